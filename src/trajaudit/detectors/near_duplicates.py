"""Which groups of runs say nearly the same, so that no split puts one to train on and its copy to test on.

Two runs are near-duplicates when the Jaccard similarity of their sets of five-word shingles is at least 0.8. Shingles
span task, thoughts, actions, observations and final answer. The threshold changes the folds: at 0.6 the 141 instances
of the published support desk set fall into 102 clusters, since procedures share their phrases; at 0.7 and above all
141 stay apart, and so do runs that differ in nothing but their order number where the runs are short.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import HashingVectorizer

from trajaudit._fields import dumps
from trajaudit.trajectory import Trajectory

WORDS = 5
THRESHOLD = 0.8
_FEATURES = 1 << 20
_ROWS = 512
"""Rows of the similarity matrix that are held at a time: 512 by 20,000 runs are some 80 MB."""


def text_of(run: Trajectory) -> str:
    """Return all that a run says, in order."""
    parts = [run.task]
    for step in run.steps:
        action = "" if step.action is None else dumps(step.action.to_json())
        observation = step.observation if isinstance(step.observation, str) else dumps(step.observation)
        parts += [step.agent or "", step.thought or "", action, observation]
    return " ".join([*parts, run.final_answer or ""])


def clusters(runs: Sequence[Trajectory], threshold: float | None = THRESHOLD) -> NDArray[np.int64]:
    """Return the cluster of each run: its group, joined with all groups that hold a near-duplicate of one of its runs.

    Args:
        threshold: least Jaccard similarity of near-duplicates, in (0, 1]; null joins nothing, so clusters are groups.

    Raises:
        ValueError: the threshold is out of range.
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"near_duplicates: expected a similarity in (0, 1], got {threshold}")
    codes = np.unique([run.group for run in runs], return_inverse=True)[1]
    pairs = [] if threshold is None else _similar(runs, threshold)
    first, second = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    size = int(codes.max(initial=-1)) + 1
    joined = coo_matrix((np.ones(len(pairs)), (codes[first], codes[second])), shape=(size, size))
    return connected_components(joined, directed=False)[1][codes].astype(np.int64)


def _similar(runs: Sequence[Trajectory], threshold: float) -> list[tuple[int, int]]:
    """Return the pairs of runs that are near-duplicates, a block of rows at a time."""
    vectorizer = HashingVectorizer(
        ngram_range=(WORDS, WORDS),
        token_pattern=r"\w+",
        binary=True,
        norm=None,
        alternate_sign=False,
        n_features=_FEATURES,
    )
    shingles = vectorizer.transform([text_of(run) for run in runs])
    sizes = np.asarray(shingles.sum(axis=1)).ravel()
    found = []
    for start in range(0, len(runs), _ROWS):
        block = shingles[start : start + _ROWS]
        shared = (block @ shingles.T).tocoo()
        row, column = shared.row + start, shared.col
        union = sizes[row] + sizes[column] - shared.data
        near = (row < column) & (shared.data >= threshold * union)
        found += list(zip(row[near].tolist(), column[near].tolist(), strict=True))
    return found
