"""One detector fitted on every run there is, for use, and what it is worth by detectors that had not seen the run.

The runs are cut into folds by cluster of groups. A detector is fitted on all folds but one and asked about that one, so
each run has a raw score from weights that never saw its group. These scores give the calibration and the threshold of
the detector that is then fitted on everything. For the figures a score is calibrated and decided by what the *other*
folds' scores give, so that no run has moved the line that it is measured against. What a budget of false alarms
promises holds for the detectors of the folds, and for the one that is kept as far as it scores clean runs as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trajaudit.detectors.calibration import Calibrated, Calibration, calibrate
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.folds import Ints, stratified
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict


@dataclass(frozen=True)
class WholeFit:
    """The detector, its calibration, and one out-of-fold verdict a run, in order."""

    detector: Detector
    calibrated: Calibrated
    verdicts: list[Verdict]


def fit_whole(
    make: Callable[[], Detector], runs: Sequence[Trajectory], how: Calibration, folder: Path, seed: int = 0
) -> WholeFit:
    """Fit on all runs; a finished fit in ``folder`` is loaded where the detector can, a killed one resumes.

    Args:
        make: a detector that is not fitted.
        runs: labelled. how: ``folds`` of at least 2.

    Raises:
        ValueError: fewer folds, or as the detector.
    """
    if how.folds < 2:
        raise ValueError(f"calibration.folds: expected at least 2, got {how.folds}: the figures come from them")
    parts = stratified(runs, clusters(runs), how.folds, seed)
    raw = _inner(make, runs, parts, folder)
    detector = _fit(make, runs, folder / "model")
    calibrated = _calibrated(raw, runs, list(range(len(runs))), how)
    verdicts = list(raw)
    for part in range(how.folds):
        others = [i for i, own in enumerate(parts) if own != part]
        line = _calibrated(raw, runs, others, how)
        for i in (i for i, own in enumerate(parts) if own == part):
            verdicts[i] = line.verdict(raw[i])
    return WholeFit(detector, calibrated, verdicts)


def _inner(make: Callable[[], Detector], runs: Sequence[Trajectory], parts: Ints, folder: Path) -> list[Verdict]:
    """Return a raw verdict on each run by a detector that was fitted without its part."""
    found: dict[int, Verdict] = {}
    for part in sorted(set(parts.tolist())):
        train = [run for run, own in zip(runs, parts, strict=True) if own != part]
        detector = _fit(make, train, folder / f"inner-{part}")
        held = [i for i, own in enumerate(parts) if own == part]
        found |= zip(held, detector.predict([runs[i] for i in held]), strict=True)
    return [found[i] for i in range(len(runs))]


def _calibrated(raw: Sequence[Verdict], runs: Sequence[Trajectory], at: Sequence[int], how: Calibration) -> Calibrated:
    scores, faulty = list[float](), list[bool]()
    for i in at:
        score, label = raw[i].score, runs[i].label
        if score is not None and label is not None:
            scores.append(score)
            faulty.append(label.faulty)
    return calibrate(scores, faulty, how)


def _fit(make: Callable[[], Detector], runs: Sequence[Trajectory], folder: Path) -> Detector:
    folder.mkdir(parents=True, exist_ok=True)
    detector = make()
    detector.fit(runs, folder)
    return detector
