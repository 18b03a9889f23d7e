"""Who is trained on and who is tested: splits that keep a group whole and fail where they cannot.

A row split over runs of which several are variants of one instance measures memory, not detection: a detector has
seen the task, the names and the clean twin of what it is tested on. So every split here but one partitions *clusters*,
groups joined with the groups of their near-duplicates, and whatever comes out is checked once more before it is used.
`PaperProtocol` is the exception and exists to be measured: Trajel's section 6.5 undersamples to balance and splits rows
at random, so rows of a trajectory and trajectories of a question fall on both sides.

Only labelled runs take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajaudit.detectors.folds import Fold, Ints, faulty_of, stratified
from trajaudit.detectors.near_duplicates import THRESHOLD, clusters
from trajaudit.detectors.rows import step_rows
from trajaudit.trajectory import Trajectory


@dataclass(frozen=True)
class GroupKFold:
    """Grouped stratified k-fold: every run is tested once, by a detector that saw nothing of its cluster.

    Where clusters are uneven, so are the folds (groups of 1, 1, 1 and 20 have no even halves); `Fold.sizes` says so.
    """

    n_folds: int = 5
    seed: int = 0
    near_duplicates: float | None = THRESHOLD
    clean = True

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise ValueError(f"n_folds: expected at least 2, got {self.n_folds}")

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        codes = clusters(runs, self.near_duplicates)
        if (count := len(np.unique(codes))) < self.n_folds:
            raise ValueError(f"n_folds: expected at most {count}, the number of clusters of groups, got {self.n_folds}")
        return _folds(runs, stratified(runs, codes, self.n_folds, self.seed), range(self.n_folds))


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """One fold a cluster of groups: the strictest test on sets of few scenarios."""

    near_duplicates: float | None = THRESHOLD
    clean = True

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        codes = clusters(runs, self.near_duplicates)
        return _folds(runs, codes, np.unique(codes).tolist())


@dataclass(frozen=True)
class LeaveOneModelOut:
    """One fold a model: its runs are tested by a detector that saw other models on *other* groups.

    Groups are usually tasks that every model was given, so within a model's fold the clusters are halved once more:
    half of them are tested while the other half is trained on, and the other way round.
    """

    seed: int = 0
    near_duplicates: float | None = THRESHOLD
    clean = True

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        models = [run.source.model for run in runs]
        if None in models:
            raise ValueError(f"split: {runs[models.index(None)].id!r} has no source.model to leave out")
        half = stratified(runs, clusters(runs, self.near_duplicates), 2, self.seed)
        found = []
        for model in sorted({str(model) for model in models}):
            own = np.array([name == model for name in models])
            found += [
                Fold(f"{model}/{part}", _taken(runs, ~own & (half != part)), _taken(runs, own & (half == part)))
                for part in (0, 1)
            ]
        return [fold for fold in found if fold.test]


@dataclass(frozen=True)
class LeaveOneFaultTypeOut:
    """One fold a fault type: can a detector find a kind of fault that no training run shows?

    A run is tested in the fold of its first fault, a clean one in a fold drawn by cluster. Training leaves out every
    cluster that is tested and every run with that type anywhere, so folds train on fewer runs than k-fold does.
    """

    seed: int = 0
    near_duplicates: float | None = THRESHOLD
    clean = True

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        types = [{fault.type for fault in run.label.faults} if run.label else set() for run in runs]
        firsts = [run.label.first.type if run.label and run.label.first else None for run in runs]
        names = sorted({name for name in firsts if name is not None})
        if len(names) < 2:
            raise ValueError(f"split: expected faults of at least two types, got {names}")
        codes = clusters(runs, self.near_duplicates)
        draw = np.random.default_rng(self.seed).permutation(int(codes.max()) + 1) % len(names)
        found = []
        for number, name in enumerate(names):
            clean = np.array([run.label is not None and not run.label.faulty for run in runs])
            tested = np.array([first == name for first in firsts]) | (clean & (draw[codes] == number))
            shows = np.array([name in own for own in types])
            seen = np.isin(codes, codes[tested])
            found.append(Fold(name, _taken(runs, ~seen & ~shows), _taken(runs, tested)))
        return found


@dataclass(frozen=True)
class Transfer:
    """Train on one set and test on another: a second dataset, or the same one in another wording."""

    near_duplicates: float | None = THRESHOLD
    clean = True

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        if not test:
            raise ValueError("split: transfer needs a second set: `dataset@test=NAME`, with its options as test.…")
        codes = clusters([*runs, *test], self.near_duplicates)
        apart = ~np.isin(codes[: len(runs)], codes[len(runs) :])
        return [Fold("transfer", _taken(runs, apart), tuple(test))]


@dataclass(frozen=True)
class PaperProtocol:
    """The published split (Trajel, section 6.5): balanced undersampling, then random rows, 72 / 13 / 15.

    Of the majority class as many rows are drawn as the minority has; then 15 % are tested and the rest trained on (the
    validation rows, 13 %, are drawn from these when fitting). A row is a run, or with ``unit`` "step" one step, as for
    its step classifier; a clean step may then come from a faulty run. Groups are ignored: that is the leak.
    """

    unit: str = "run"
    seed: int = 0
    test_share: float = 0.15
    clean = False

    def __post_init__(self) -> None:
        if self.unit not in ("run", "step"):
            raise ValueError(f"unit: expected run or step, got {self.unit!r}")

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        rows = step_rows(runs) if self.unit == "step" else list(runs)
        random = np.random.default_rng(self.seed)
        faulty = np.array(faulty_of(rows))
        kinds = [np.flatnonzero(faulty == kind) for kind in (True, False)]
        size = min(len(kind) for kind in kinds)
        drawn = random.permutation(np.concatenate([random.permutation(kind)[:size] for kind in kinds]))
        count = round(self.test_share * len(drawn))
        tested = np.isin(np.arange(len(rows)), drawn[:count])
        return [Fold("random rows", _taken(rows, np.isin(np.arange(len(rows)), drawn[count:])), _taken(rows, tested))]


def _taken(runs: Sequence[Trajectory], chosen: NDArray[np.bool_]) -> tuple[Trajectory, ...]:
    return tuple(run for run, take in zip(runs, chosen, strict=True) if take)


def _folds(runs: Sequence[Trajectory], part: Ints, names: Sequence[int] | range) -> list[Fold]:
    return [Fold(str(name), _taken(runs, part != name), _taken(runs, part == name)) for name in names]
