"""Leak probes: can a classifier that sees almost nothing of a run tell whether it is faulty?

If it can, a detector may score well on a set without having understood a fault. Each probe looks at one view only:

- ``ids``, ``goal``, ``thoughts``, ``final_answer``: character (2-4) and word (1-2) n-grams, TF-IDF, L2-normalised,
  into a logistic regression. ``thoughts`` is all thoughts of a run in order, joined by spaces, the same text as one
  gets by reading only what the agent thinks; a step without a thought adds nothing.
- ``length``: numbers of steps and of thoughts, and characters of thoughts, arguments, observations and final answer.
- ``position``: over the *steps* of faulty runs, which step is at fault, from its index, its distance from the end and
  their ratio alone. This is what a localiser gains by knowing where faults tend to be.

Five choices change the numbers.

- Folds keep groups whole, so no wording of an instance is seen in training.
- A fold is scored by a model of the folds *before* it, and the first one not at all. Ordinary cross-validation uses
  every pair of folds twice, once each way; where there is nothing to learn, that doubles the variance of the AUC, and
  intervals from resampling then miss 0.5 three times in ten instead of once in twenty.
- The weights of n-grams are fitted on the training folds alone. Over all texts, the document frequency of a rare
  n-gram is the size of its group, and group sizes can go with the label (in the paper preset they do: goals then
  reach 0.57).
- The AUC is computed within each fold and averaged by pairs, since scores of different folds share no scale.
- The 95 % interval resamples groups, not runs, because the runs of an instance are near-copies of each other.

A view leaks when its interval does not hold 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trajaudit._fields import dumps
from trajaudit.trajectory import Trajectory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5
RESAMPLES = 1000
_FEATURES = 1 << 17


class ProbeResult(NamedTuple):
    """What one view gives away: AUC with its 95 % interval over ``n`` items; null with a ``reason`` where undefined."""

    name: str
    auc: float | None
    low: float | None
    high: float | None
    n: int
    leaks: bool
    reason: str


def thoughts_of(run: Trajectory) -> str:
    """Return all thoughts of a run in order, joined by spaces."""
    return " ".join(step.thought for step in run.steps if step.thought)


TEXTS: dict[str, Callable[[Trajectory], str]] = {
    "ids": lambda run: run.id,
    "goal": lambda run: run.task,
    "thoughts": thoughts_of,
    "final_answer": lambda run: run.final_answer or "",
}
PROBES = (*TEXTS, "length", "position")


def probe(trajectories: Sequence[Trajectory], names: Sequence[str] = PROBES, seed: int = 0) -> list[ProbeResult]:
    """Return one result for each probe over labelled runs (unlabelled ones are left out).

    Raises:
        ValueError: for a name that is no probe.
    """
    unknown = [name for name in names if name not in PROBES]
    if unknown:
        raise ValueError(f"names: expected some of {', '.join(PROBES)}, got {unknown[0]!r}")
    runs = [run for run in trajectories if run.label is not None]
    faulty = np.array([run.label is not None and run.label.faulty for run in runs], dtype=np.int64)
    groups = [run.group for run in runs]
    results = []
    for name in names:
        if name == "position":
            results.append(_scored(name, *_positions(runs), seed))
        elif name == "length":
            results.append(_scored(name, _scaled([_lengths(run) for run in runs]), faulty, groups, seed))
        else:
            texts = [TEXTS[name](run) for run in runs]
            results.append(_scored(name, _ngrams(texts) if any(texts) else csr_matrix((0, 1)), faulty, groups, seed))
    return results


def _lengths(run: Trajectory) -> list[float]:
    thoughts = [step.thought for step in run.steps if step.thought]
    actions = [dumps(step.action.to_json()) for step in run.steps if step.action is not None]
    observations = [dumps(step.observation) for step in run.steps]
    texts = ("".join(thoughts), "".join(actions), "".join(observations), run.final_answer or "")
    return [float(len(run.steps)), float(len(thoughts)), *(float(len(text)) for text in texts)]


def _positions(runs: Sequence[Trajectory]) -> tuple[csr_matrix, Ints, list[str]]:
    """Return position features, whether it is at fault, and the group, for every step of runs with a located fault."""
    rows, at_fault, groups = [], [], []
    for run in runs:
        steps = {fault.step for fault in run.label.faults if fault.step is not None} if run.label is not None else set()
        last = len(run.steps) - 1
        for index in range(len(run.steps)) if steps else ():
            rows.append([float(index), float(last - index), index / max(last, 1)])
            at_fault.append(int(index in steps))
            groups.append(run.group)
    return _scaled(rows) if rows else csr_matrix((0, 3)), np.array(at_fault, dtype=np.int64), groups


def _scaled(rows: list[list[float]]) -> csr_matrix:
    """Return numbers as standardised features with their squares, so that a logistic curve can rise and fall."""
    if not rows:
        return csr_matrix((0, 1))
    table = StandardScaler().fit_transform(np.array(rows))
    return csr_matrix(np.hstack([table, table**2]))


def _ngrams(texts: Sequence[str]) -> csr_matrix:
    """Return counts of hashed n-grams, characters and words side by side."""
    common = {"n_features": _FEATURES, "norm": None, "alternate_sign": False}
    characters = HashingVectorizer(analyzer="char", ngram_range=(2, 4), **common)
    words = HashingVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", **common)
    return csr_matrix(hstack([characters.transform(texts), words.transform(texts)]))


def _scored(name: str, features: csr_matrix, target: Ints, groups: Sequence[str], seed: int) -> ProbeResult:
    """Return the grouped, cross-validated AUC of one view with its interval."""
    n = len(target)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1] if n else np.zeros(0, dtype=np.int64)
    reason = _undefined(target, codes, features.shape[0])
    if reason:
        return ProbeResult(name, None, None, None, n, False, reason)
    scores, folds = _progressive(features, target, codes, name in TEXTS, seed)
    weights = _resampled_groups(codes, seed)
    scored = folds > 0
    aucs = auc_within_folds(scores[scored], target[scored], folds[scored], weights[:, scored])
    low, high = np.quantile(aucs[1:], [0.025, 0.975])
    leaks = not low <= 0.5 <= high
    verdict = "the interval lies off 0.5" if leaks else "the interval holds 0.5"
    return ProbeResult(name, float(aucs[0]), float(low), float(high), int(scored.sum()), leaks, verdict)


def _progressive(features: csr_matrix, target: Ints, codes: Ints, counts: bool, seed: int) -> tuple[Floats, Ints]:
    """Return a score and a fold for each item; every fold is scored by a model of the folds before it, fold 0 by none.

    ``counts`` says that the features are counts of n-grams, which are weighted by TF-IDF within each training set.
    """
    scores, folds = np.zeros(len(target)), np.zeros(len(target), dtype=np.int64)
    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for fold, (_, inside) in enumerate(splitter.split(features, target, codes)):
        folds[inside] = fold
    for fold in range(1, FOLDS):
        train, test = folds < fold, folds == fold
        regression = LogisticRegression(C=1.0, class_weight="balanced", solver="liblinear", random_state=seed)
        model = make_pipeline(TfidfTransformer(sublinear_tf=True), regression) if counts else regression
        if len(np.unique(target[train])) == 2:
            scores[test] = model.fit(features[train], target[train]).decision_function(features[test])
    return scores.round(9), folds


def _undefined(target: Ints, codes: Ints, rows: int) -> str:
    """Return why no AUC can be had, or an empty string."""
    if not len(target):
        return "no labelled items"
    if not rows:
        return "the view is empty in every run"
    if len(np.unique(target)) < 2:
        return "all items are of one class"
    both = min(len(np.unique(codes[target == value])) for value in (0, 1))
    return f"a class occurs in {both} groups, fewer than {FOLDS} folds" if both < FOLDS else ""


def _resampled_groups(codes: Ints, seed: int) -> Floats:
    """Return how often each item counts: once in the first row, by groups drawn with replacement in the others."""
    generator = np.random.default_rng(seed)
    count = int(codes.max()) + 1
    draws = generator.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(np.float64)
    return np.vstack([np.ones(len(codes)), draws[:, codes]])


def auc_within_folds(scores: Floats, target: Ints, folds: Ints, weights: Floats) -> Floats:
    """Return, for each row of item weights, the share of (faulty, clean) pairs of one fold that are ranked right.

    A tie counts half. ``weights`` is (rows, items); the result is (rows,). With one fold and unit weights this is the
    ROC-AUC (Mann-Whitney).
    """
    right, pairs = np.zeros(len(weights)), np.zeros(len(weights))
    for fold in np.unique(folds):
        inside = np.flatnonzero(folds == fold)
        order = inside[np.argsort(scores[inside], kind="stable")]
        starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) != 0])
        mass = weights[:, order]
        positive = np.add.reduceat(mass * (target[order] == 1), starts, axis=1)
        negative = np.add.reduceat(mass * (target[order] == 0), starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative
        right += (positive * (below + negative / 2)).sum(axis=1)
        pairs += positive.sum(axis=1) * negative.sum(axis=1)
    return right / np.where(pairs > 0, pairs, np.nan)
