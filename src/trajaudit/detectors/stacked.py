"""Auditors and the hybrid over them as one detector: fit it on labelled runs, ask it about others.

The order inside is what keeps it honest. Training runs are cut into folds by group; each part is fitted on the other
folds and asked about its own, so that the hybrid learns from verdicts as they will be on unseen runs; only then is
every part fitted on all training runs, for use.

What the parts said is kept beside the model, on the training runs and on the runs last asked about: an ablation then
fits the hybrid again and no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trajaudit._fields import Json
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.folds import Ints, stratified
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verdict import Verdict, read_verdicts

LEARNT_FROM, ASKED = "learnt_from", "asked"
"""The folders of what the parts said on the training runs, out of fold, and on the runs last asked about."""
Makers = Mapping[str, Callable[[], Detector]]


class Stacked:
    """A hybrid with its parts.

    Args:
        make: for each part, what makes an unfitted one.
        hybrid: the stacked model; its parts are among ``make``.
        folds: the folds, by group, of the parts' out-of-fold verdicts, which stay in ``learnt_from``.
        near_duplicates: keeps groups of near-duplicate runs in one fold, from this similarity on; null joins none.
    """

    def __init__(
        self, make: Makers, hybrid: Hybrid, *, folds: int = 5, seed: int = 0, near_duplicates: float | None = None
    ) -> None:
        self.make, self.hybrid, self.folds, self.seed = make, hybrid, folds, seed
        self.near_duplicates = near_duplicates
        self.folder: Path | None = None
        self.name = hybrid.name
        self.parts: dict[str, Detector] = {}
        self.learnt_from: dict[str, list[Verdict]] = {}
        self.spec: dict[str, Json] = hybrid.spec | {
            "of": {name: maker().spec for name, maker in make.items()},
            "part_folds": folds,
            "near_duplicates": near_duplicates,
        }

    def fit(self, runs: Sequence[Trajectory], folder: Path) -> None:
        """Fit the hybrid on the parts' out-of-fold verdicts, and the parts on all runs.

        Raises:
            ValueError: as the hybrid and the parts.
        """
        fold_of = stratified(runs, clusters(runs, self.near_duplicates), self.folds, self.seed)
        self.learnt_from = out_of_fold_parts(self.make, runs, folder, fold_of)
        _keep(self.learnt_from, folder / LEARNT_FROM)
        self.hybrid.fit(runs, self.learnt_from, folder)
        self.parts = {name: _fitted(maker, runs, folder / name) for name, maker in self.make.items()}
        self.folder = folder

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return the hybrid's verdicts, with the step and type of what would be wrong where the run is not flagged."""
        said = self.of_parts(runs)
        if self.folder is not None:
            _keep(said, self.folder / ASKED)
        return self.hybrid.predict(runs, said, decided=False)

    def of_parts(self, runs: Sequence[Trajectory]) -> dict[str, list[Verdict]]:
        """Return the verdicts of every part, as fitted on all training runs.

        Raises:
            ValueError: nothing was fitted.
        """
        if not self.parts:
            raise ValueError(f"{self.name}: expected fitted parts, call fit first")
        return {name: part.predict(runs) for name, part in self.parts.items()}


def said_by_parts(folder: Path, parts: Sequence[str]) -> dict[str, list[Verdict]]:
    """Return what each part said, as a fit or a prediction has kept it in `LEARNT_FROM` or `ASKED`.

    Raises:
        FileNotFoundError, RecordError: naming the file.
    """
    return {name: list(read_verdicts(folder / f"{name}.jsonl")) for name in parts}


def out_of_fold_parts(
    make: Makers, runs: Sequence[Trajectory], folder: Path, fold_of: Ints
) -> dict[str, list[Verdict]]:
    """Return, for each part, its verdict on every run when fitted on the folds that the run is not in.

    Args:
        fold_of: [n], the fold of each run.
    """
    out: dict[str, list[Verdict]] = {}
    for name, maker in make.items():
        found: dict[str, Verdict] = {}
        for fold in np.unique(fold_of).tolist():
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


def _keep(said: Mapping[str, Sequence[Verdict]], folder: Path) -> None:
    for name, verdicts in said.items():
        write_jsonl(folder / f"{name}.jsonl", verdicts)
