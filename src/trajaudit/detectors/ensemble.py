"""Several fits of one detector as one auditor: each with its own calibration, and the middle one of their verdicts.

A threshold keeps its false-alarm budget only where it meets scores of the fits that it was taken from. Inner folds give
scores of inner fits; a detector that is then fitted again on all runs scores on a scale of its own, and on a small set
that can flag nearly every clean run. So with a budget the inner fits themselves are the detector (Platt's
cross-validated calibration, as in scikit-learn's ``CalibratedClassifierCV(ensemble=True)``), and the threshold is the
conformal one over the clean runs that each of them did not see.

Taking the median instead of the mean makes this a majority vote of the fits, whose rate of false alarms is at most
twice the budget whatever the fits do, also where they score on scales that have nothing in common (Gasparin and Ramdas
2024); it comes near twice only where every run that one fit flags wrongly is flagged by just one more. And the
verdict is one that a fit has given, so that step, types and evidence belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trajaudit.detectors.calibration import Calibrated, Calibration, Method, calibrate, promised
from trajaudit.detectors.detector import Detector
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Usage, Verdict


@dataclass(frozen=True)
class InnerFit:
    """A detector fitted on some inner folds, with its scores [n] of the runs held out and which of them are faulty."""

    detector: Detector
    scores: list[float]
    faulty: list[bool]


class Ensemble:
    """Fits of one detector, asked together.

    Args:
        members: each with the calibration of its own scores.
    """

    def __init__(self, members: Sequence[tuple[Detector, Calibrated]]) -> None:
        self.name = members[0][0].name
        self._members = members

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run, in order, calibrated but not decided."""
        said = [
            [_calibrated(verdict, calibrated) for verdict in detector.predict(runs)]
            for detector, calibrated in self._members
        ]
        return [middle(verdicts) for verdicts in zip(*said, strict=True)]


def ensemble_of(inner: Sequence[InnerFit], method: Method, budget: float) -> tuple[Ensemble, Calibrated]:
    """Return the fits as one detector, and the threshold that keeps the budget of false alarms.

    Raises:
        ValueError: the runs that a fit is calibrated on are of one class.
    """
    own = Calibration(method, false_alarms=None)
    members = [(fit.detector, calibrate(fit.scores, fit.faulty, own)) for fit in inner]
    clean = [
        calibrated.probability(score)
        for fit, (_, calibrated) in zip(inner, members, strict=True)
        for score, faulty in zip(fit.scores, fit.faulty, strict=True)
        if not faulty
    ]
    threshold, reason = promised(clean, budget)
    return Ensemble(members), Calibrated(threshold=threshold, reason=reason)


def middle(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict with the median score, of an even number the lower one; what it cost is the sum of all.

    Where a fit had no opinion, that is the verdict.
    """
    silent = [verdict for verdict in verdicts if verdict.score is None]
    ranked = sorted(verdicts, key=lambda verdict: verdict.score or 0.0)
    chosen = silent[0] if silent else ranked[(len(ranked) - 1) // 2]
    seconds = [verdict.latency_s for verdict in verdicts if verdict.latency_s is not None]
    return replace(
        chosen,
        usage=sum((verdict.usage for verdict in verdicts), Usage()),
        latency_s=sum(seconds) if len(seconds) == len(verdicts) else None,
    )


def _calibrated(verdict: Verdict, calibrated: Calibrated) -> Verdict:
    return verdict if verdict.score is None else replace(verdict, score=calibrated.probability(verdict.score))
