"""One part of a split, and the check that every part passes before anything is trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from trajaudit._fields import Json
from trajaudit.trajectory import Trajectory

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """One part of a split: what is trained on, and what is asked about afterwards."""

    name: str
    train: tuple[Trajectory, ...]
    test: tuple[Trajectory, ...]

    def sizes(self) -> Json:
        """Return how many runs, faulty runs and groups stand on each side."""
        sides = {"train": self.train, "test": self.test}
        return {"fold": self.name} | {
            side: {"runs": len(runs), "faulty": sum(faulty_of(runs)), "groups": len({run.group for run in runs})}
            for side, runs in sides.items()
        }


class Split(Protocol):
    """A rule that makes folds. ``clean`` says that no group may stand on both sides of one."""

    clean: bool

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        """Return the folds of labelled runs; ``test`` are the runs of another set, for the split that takes one."""
        ...


def checked_folds(split: Split, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
    """Return the folds of a split after checking that each can be learnt from and none leaks.

    Raises:
        ValueError: a group stands on both sides of a fold, a run is tested twice, a fold trains on one class only or
            tests nothing, or nothing is labelled.
    """
    labelled = [run for run in runs if run.label is not None]
    if not labelled:
        raise ValueError("split: no run is labelled, so there is nothing to train on")
    folds = split.folds(labelled, None if test is None else [run for run in test if run.label is not None])
    tested: set[str] = set()
    for fold in folds:
        _check(fold, split.clean)
        if again := tested & {run.id for run in fold.test}:
            raise ValueError(f"split: {min(again)!r} is tested in more than one fold")
        tested |= {run.id for run in fold.test}
    return folds


def _check(fold: Fold, clean: bool) -> None:
    shared = {run.group for run in fold.train} & {run.group for run in fold.test}
    if clean and shared:
        raise ValueError(
            f"split: fold {fold.name}: group {min(shared)!r} stands in train and in test ({len(shared)} such groups)"
        )
    if not fold.test:
        raise ValueError(f"split: fold {fold.name} tests nothing; fewer folds, or more groups, are needed")
    if len(set(faulty_of(fold.train))) < 2:
        raise ValueError(f"split: fold {fold.name} trains on {len(fold.train)} runs that are not of both classes")


def stratified(runs: Sequence[Trajectory], codes: Ints, n_folds: int, seed: int) -> Ints:
    """Return the fold of each run: clusters kept whole, shares of faulty runs as even as that allows."""
    folds = np.zeros(len(runs), dtype=np.int64)
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    for fold, (_, inside) in enumerate(splitter.split(np.zeros(len(runs)), faulty_of(runs), codes)):
        folds[inside] = fold
    return folds


def faulty_of(runs: Sequence[Trajectory]) -> list[bool]:
    """Return which runs are labelled faulty."""
    return [run.label is not None and run.label.faulty for run in runs]
