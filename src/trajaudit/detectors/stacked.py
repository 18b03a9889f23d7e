"""Auditors and the hybrid over them as one detector: fit it on labelled runs, ask it about others.

The order inside is what keeps it honest. Training runs are cut into folds by group; each part is fitted on the other
folds and asked about its own, so that the hybrid learns from verdicts as they will be on unseen runs; only then is
every part fitted on all training runs, for use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trajaudit._fields import Json
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.splits import stratified
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

Makers = Mapping[str, Callable[[], Detector]]


class Stacked:
    """A hybrid with its parts.

    Args:
        make: for each part, what makes an unfitted one.
        hybrid: the stacked model; its parts are among ``make``.
        folds: the folds, by group, of the parts' out-of-fold verdicts, which stay in ``learnt_from``.
    """

    def __init__(self, make: Makers, hybrid: Hybrid, *, folds: int = 5, seed: int = 0) -> None:
        self.make, self.hybrid, self.folds, self.seed = make, hybrid, folds, seed
        self.name = hybrid.name
        self.parts: dict[str, Detector] = {}
        self.learnt_from: dict[str, list[Verdict]] = {}
        self.spec: dict[str, Json] = hybrid.spec | {
            "of": {name: maker().spec for name, maker in make.items()},
            "part_folds": folds,
        }

    def fit(self, runs: Sequence[Trajectory], folder: Path) -> None:
        """Fit the hybrid on the parts' out-of-fold verdicts, and the parts on all runs.

        Raises:
            ValueError: as the hybrid and the parts.
        """
        self.learnt_from = out_of_fold_parts(self.make, runs, folder, self.folds, self.seed)
        self.hybrid.fit(runs, self.learnt_from, folder)
        self.parts = {name: _fitted(maker, runs, folder / name) for name, maker in self.make.items()}

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return the hybrid's verdicts."""
        return self.hybrid.predict(runs, self.of_parts(runs))

    def of_parts(self, runs: Sequence[Trajectory]) -> dict[str, list[Verdict]]:
        """Return the verdicts of every part, as fitted on all training runs.

        Raises:
            ValueError: nothing was fitted.
        """
        if not self.parts:
            raise ValueError(f"{self.name}: expected fitted parts, call fit first")
        return {name: part.predict(runs) for name, part in self.parts.items()}


def out_of_fold_parts(
    make: Makers, runs: Sequence[Trajectory], folder: Path, folds: int, seed: int
) -> dict[str, list[Verdict]]:
    """Return, for each part, its verdict on every run when fitted on the folds that the run is not in."""
    _, codes = np.unique(np.array([run.group for run in runs]), return_inverse=True)
    fold_of = stratified(runs, codes.astype(np.int64), folds, seed)
    out: dict[str, list[Verdict]] = {}
    for name, maker in make.items():
        found: dict[str, Verdict] = {}
        for fold in range(folds):
            train = [run for run, of in zip(runs, fold_of, strict=True) if of != fold]
            test = [run for run, of in zip(runs, fold_of, strict=True) if of == fold]
            part = _fitted(maker, train, folder / f"{name}-{fold}")
            found |= {verdict.trajectory_id: verdict for verdict in part.predict(test)}
        out[name] = [found[run.id] for run in runs]
    return out


def _fitted(maker: Callable[[], Detector], runs: Sequence[Trajectory], folder: Path) -> Detector:
    folder.mkdir(parents=True, exist_ok=True)
    part = maker()
    part.fit(runs, folder)
    return part
