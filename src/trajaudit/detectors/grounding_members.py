"""Three small models of one question, worth averaging because each reads something else.

*trees* reads features, *words* the masked answer and the course of the calls, *meaning* the answer's vector. Each
learns from soft targets: a run is faulty with a weight and clean with the rest, which is how labels that miss faults
are learnt from. Options of a member (how widespread a word must be, how strong a penalty) are chosen on inner folds of
the training runs by pooled AUC; of equal ones the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse import vstack as sparse_vstack
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from trajaudit.detectors.grounding_inputs import Inputs
from trajaudit.detectors.grounding_words import SharedWords

Floats = NDArray[np.float64]
MEMBERS = ("trees", "words", "meaning")


class Member(Protocol):
    """A model that is fitted on inputs and asked for probabilities."""

    def fit(self, inputs: Inputs, target: Floats, groups: Sequence[str]) -> None:
        """Learn from n runs; ``target`` [n] is the probability that each is faulty."""
        ...

    def probabilities(self, inputs: Inputs) -> Floats:
        """Return the probability of a fault, [n]."""
        ...


class Trees:
    """Extremely randomised trees (Geurts et al. 2006) over the features.

    Leaves of at least eight runs: most scenarios have dozens of runs that repeat each other, and a smaller leaf holds
    one scenario. Groups weigh by their size, since weighing them alike made the trees worse.
    """

    def __init__(self, seed: int) -> None:
        self.model = ExtraTreesClassifier(300, min_samples_leaf=8, max_features=0.3, random_state=seed)

    def fit(self, inputs: Inputs, target: Floats, groups: Sequence[str]) -> None:
        softly(self.model, inputs.features, target, np.ones(len(inputs)))

    def probabilities(self, inputs: Inputs) -> Floats:
        return np.asarray(self.model.predict_proba(inputs.features)[:, 1])


class Words:
    """A logistic model over words that a ``share`` of the training groups use."""

    def __init__(self, share: float) -> None:
        self.vocabulary, self.model = SharedWords(share), LogisticRegression(max_iter=1000)

    def fit(self, inputs: Inputs, target: Floats, groups: Sequence[str]) -> None:
        softly(self.model, self.vocabulary.fit(inputs.words, groups), target, group_weights(groups))

    def probabilities(self, inputs: Inputs) -> Floats:
        return np.asarray(self.model.predict_proba(self.vocabulary.rows(inputs.words))[:, 1])


class Meaning:
    """A logistic model over the standardised vector of the answer; ``strength`` is the inverse penalty."""

    def __init__(self, strength: float) -> None:
        self.scaler, self.model = StandardScaler(), LogisticRegression(C=strength, max_iter=1000)

    def fit(self, inputs: Inputs, target: Floats, groups: Sequence[str]) -> None:
        softly(self.model, self.scaler.fit_transform(inputs.vectors), target, group_weights(groups))

    def probabilities(self, inputs: Inputs) -> Floats:
        return np.asarray(self.model.predict_proba(self.scaler.transform(inputs.vectors))[:, 1])


def group_weights(groups: Sequence[str]) -> Floats:
    """Return a weight for each run, 1 on average: a group of n runs counts as the square root of n.

    >>> group_weights(["a", "a", "a", "a", "b"]).round(3).tolist()
    [0.833, 0.833, 0.833, 0.833, 1.667]
    """
    _, codes, sizes = np.unique(np.array(groups), return_inverse=True, return_counts=True)
    weights = sizes[codes] ** -0.5
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def softly(model: Any, rows: Floats | csr_matrix, target: Floats, weight: Floats) -> None:
    """Fit a classifier on soft targets: each run once as faulty and once as clean, weighed by how likely either is.

    Raises:
        ValueError: all weight lies on one class.
    """
    sides = [(1, weight * target), (0, weight * (1 - target))]
    kept = [(side, at, np.flatnonzero(at > 0)) for side, at in sides]
    if any(len(where) == 0 for _, _, where in kept):
        raise ValueError("expected faulty and clean runs to train on, got one class")
    parts = [rows[where] for _, _, where in kept]
    stacked = np.vstack(parts) if isinstance(rows, np.ndarray) else sparse_vstack(parts).tocsr()
    truth = np.concatenate([np.full(len(where), side) for side, _, where in kept])
    model.fit(stacked, truth, sample_weight=np.concatenate([at[where] for _, at, where in kept]))


def best(
    options: Sequence[float],
    make: Callable[[float], Member],
    inputs: Inputs,
    faulty: NDArray[np.bool_],
    groups: Sequence[str],
    fold: NDArray[np.int64],
) -> float:
    """Return the option whose out-of-fold probabilities rank the runs best; with one option, nothing is fitted.

    Args:
        fold: the inner fold of each run [n]; no group lies in two.
    """
    if len(options) == 1:
        return options[0]
    areas = [
        float(roc_auc_score(faulty, inner_probabilities(partial(make, option), inputs, faulty, groups, fold)))
        for option in options
    ]
    return options[int(np.argmax(areas))]


def inner_probabilities(
    make: Callable[[], Member],
    inputs: Inputs,
    target: NDArray[Any],
    groups: Sequence[str],
    fold: NDArray[np.int64],
) -> Floats:
    """Return [n] probabilities, each from a member that was fitted without the run's fold."""
    found, names = np.empty(len(inputs)), np.array(groups)
    for part in np.unique(fold):
        member = make()
        member.fit(inputs[fold != part], np.asarray(target[fold != part], dtype=np.float64), names[fold != part])
        found[fold == part] = member.probabilities(inputs[fold == part])
    return found
