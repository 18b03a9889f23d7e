"""From a raw score to a probability and a decision, fitted on runs that neither training nor test has seen.

*temperature* divides the logit by one number: it mends over-confidence and keeps the ranking, but not a wrong base
rate. *platt* shifts the logit as well, which class-weighted training needs. *isotonic* fits any rising step function;
it can mend more, ties scores that were apart, and wants some hundred runs. The threshold is then the smallest that
flags at most the stated share of the clean runs among those it is fitted on, and it is frozen: no test run moves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from trajaudit._fields import Json
from trajaudit.verdict import Verdict

Floats = NDArray[np.float64]
METHODS = ("none", "temperature", "platt", "isotonic")
_EPS = 1e-6


@dataclass(frozen=True)
class Calibration:
    """How scores are calibrated and decided.

    Args:
        method: see the module.
        folds: inner folds, by cluster of groups, whose out-of-fold scores are fitted on; the detector is then fitted
            again on all training runs. 1 holds one part out instead and fits once, for detectors that are slow to
            train. 0 calibrates nothing and decides at 0.5.
        false_alarms: share of clean runs that may be flagged; null decides at a probability of 0.5.
        share: with one fold, the part that is held out.
    """

    method: Literal["none", "temperature", "platt", "isotonic"] = "platt"
    folds: int = 3
    false_alarms: float | None = 0.05
    share: float = 0.25

    def __post_init__(self) -> None:
        if self.folds < 0:
            raise ValueError(f"folds: expected 0 or more, got {self.folds}")
        if self.false_alarms is not None and not 0 <= self.false_alarms < 1:
            raise ValueError(f"false_alarms: expected a share in [0, 1), or null, got {self.false_alarms}")
        if not 0 < self.share < 1:
            raise ValueError(f"share: expected a number between 0 and 1, got {self.share}")


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibration: ``points`` of a rising piecewise linear map from logit to probability, and the threshold.

    ``method`` "platt" and "temperature" hold slope and intercept instead.
    """

    method: str = "none"
    slope: float = 1.0
    intercept: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    threshold: float = 0.5

    def probability(self, score: float) -> float:
        """Return the calibrated probability of a raw score."""
        return float(self._map(np.array([score]))[0])

    def _map(self, scores: Floats) -> Floats:
        x = logit(np.clip(scores, _EPS, 1 - _EPS))
        if self.method == "isotonic":
            at, value = np.array(self.points).T
            return np.asarray(np.interp(x, at, value), dtype=np.float64)
        if self.method == "none":
            return scores
        return np.asarray(expit(self.slope * x + self.intercept), dtype=np.float64)

    def verdict(self, raw: Verdict) -> Verdict:
        """Return a verdict with its score calibrated and decided; one without an opinion stays as it is.

        A run that is decided clean names no step and no type.
        """
        if raw.score is None:
            return raw
        score = self.probability(raw.score)
        faulty = score > self.threshold
        step, types = (raw.step, raw.types) if faulty else (None, ())
        confidence = score if faulty else 1 - score
        return replace(raw, score=score, faulty=faulty, step=step, types=types, confidence=confidence)

    def to_json(self) -> Json:
        return {**self.__dict__, "points": [list(point) for point in self.points]}


def calibrate(scores: Sequence[float], faulty: Sequence[bool], how: Calibration) -> Calibrated:
    """Fit a calibration on raw scores of labelled runs.

    Raises:
        ValueError: the runs are all of one class.

    >>> fitted = calibrate([0.9, 0.8, 0.7, 0.6], [True, True, False, False], Calibration("none", false_alarms=0.5))
    >>> fitted.threshold
    0.6
    """
    values, truth = np.array(scores, dtype=np.float64), np.array(faulty, dtype=np.bool_)
    if len(np.unique(truth)) < 2:
        raise ValueError("calibration: the inner folds hold runs of one class only; fewer inner folds, or more runs")
    fitted = _FITTED[how.method](logit(np.clip(values, _EPS, 1 - _EPS)), truth)
    return replace(fitted, threshold=_threshold(fitted._map(values)[~truth], how.false_alarms))


def _threshold(clean: Floats, false_alarms: float | None) -> float:
    """Return the smallest score of a clean run that, as a strict threshold, flags no more than the budget."""
    if false_alarms is None:
        return 0.5
    allowed = math.floor(false_alarms * len(clean) + 1e-9)
    return float(np.sort(clean)[::-1][allowed])


def _line(shift: bool) -> Callable[[Floats, NDArray[np.bool_]], Calibrated]:
    def fitted(x: Floats, truth: NDArray[np.bool_]) -> Calibrated:
        sign = np.where(truth, 1.0, -1.0)

        def loss(theta: Floats) -> float:
            slope, intercept = math.exp(theta[0]), theta[1] if shift else 0.0
            # A faint pull towards the identity keeps the fit finite where the classes are separable.
            return float(np.logaddexp(0, -sign * (slope * x + intercept)).mean() + 1e-3 * (theta**2).sum())

        log_slope, intercept = minimize(loss, np.zeros(2), method="Nelder-Mead").x
        method = "platt" if shift else "temperature"
        return Calibrated(method, float(math.exp(log_slope)), float(intercept) if shift else 0.0)

    return fitted


def _isotonic(x: Floats, truth: NDArray[np.bool_]) -> Calibrated:
    model = IsotonicRegression(y_min=_EPS, y_max=1 - _EPS, out_of_bounds="clip").fit(x, truth)
    points = zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True)
    return Calibrated("isotonic", points=tuple((float(a), float(b)) for a, b in points))


_FITTED: dict[str, Callable[[Floats, NDArray[np.bool_]], Calibrated]] = {
    "none": lambda x, truth: Calibrated(),
    "temperature": _line(False),
    "platt": _line(True),
    "isotonic": _isotonic,
}
