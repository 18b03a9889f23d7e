"""A few labelled runs of a set to learn from, and a part of it that is tested whatever their number and draw.

Learning curves compare trainings on 10, 50 and 200 labels, so all of them must be asked about the same runs: the tested
part follows from the seed alone. What is learnt from is drawn from the rest, with the share of faulty runs that the
rest has, and draws are nested: the first 10 of a draw are among its first 50, so a curve is one set that grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajaudit.detectors.folds import Fold, faulty_of, stratified
from trajaudit.detectors.near_duplicates import THRESHOLD, clusters
from trajaudit.trajectory import Trajectory


@dataclass(frozen=True)
class FewShot:
    """Train on a few labelled runs, test on other groups.

    Args:
        labels: how many runs are learnt from; null for all that are not tested.
        draw: which of them, at the same test.
        parts: the runs are cut into so many parts by cluster of groups, and one part is tested.
        seed: of the cut.
    """

    labels: int | None = 50
    draw: int = 0
    parts: int = 2
    seed: int = 0
    near_duplicates: float | None = THRESHOLD
    clean = True

    def __post_init__(self) -> None:
        if self.labels is not None and self.labels < 2:
            raise ValueError(f"labels: expected at least 2, one of each class, got {self.labels}")
        if self.parts < 2:
            raise ValueError(f"parts: expected at least 2, got {self.parts}")

    def folds(self, runs: Sequence[Trajectory], test: Sequence[Trajectory] | None = None) -> list[Fold]:
        tested = stratified(runs, clusters(runs, self.near_duplicates), self.parts, self.seed) == 0
        pool = [run for run, out in zip(runs, tested, strict=True) if not out]
        name = f"{'all' if self.labels is None else self.labels} labels, draw {self.draw}"
        return [Fold(name, self._drawn(pool), tuple(run for run, out in zip(runs, tested, strict=True) if out))]

    def _drawn(self, pool: Sequence[Trajectory]) -> tuple[Trajectory, ...]:
        """Return the runs that are learnt from, in the order of the pool."""
        if self.labels is None:
            return tuple(pool)
        if self.labels > len(pool):
            raise ValueError(f"labels: expected at most {len(pool)}, what is not tested, got {self.labels}")
        faulty = np.array(faulty_of(pool))
        order = np.random.default_rng((self.seed, self.draw)).permutation(len(pool))
        count = min(max(round(self.labels * float(faulty.mean())), 1), self.labels - 1)
        kinds = [order[faulty[order]][:count], order[~faulty[order]][: self.labels - count]]
        return tuple(pool[i] for i in sorted(np.concatenate(kinds).tolist()))
