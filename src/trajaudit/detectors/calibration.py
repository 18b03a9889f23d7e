"""From a raw score to a probability and a decision, fitted on runs that neither training nor test has seen.

*temperature* divides the logit by one number: it mends over-confidence and keeps the ranking, but not a wrong base
rate. *platt* shifts the logit as well, which class-weighted training needs. *isotonic* fits any rising step function;
it can mend more, ties scores that were apart, and wants some hundred runs.

The threshold is then frozen: no test run moves it. With a budget of false alarms it is the conformal quantile of the
n clean runs held out, their ⌈(n + 1)(1 - budget)⌉-th smallest score: a clean run drawn like them is above it with at
most the budget's probability, however few they are (Vovk, Gammerman and Shafer 2005). The smallest threshold that keeps
the budget among the held-out runs themselves would break it by up to 1 / (n + 1). Fewer than 1 / budget - 1 clean
runs can promise nothing, and then nothing is flagged.
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
Method = Literal["none", "temperature", "platt", "isotonic"]
_EPS = 1e-6
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Calibration:
    """How scores are calibrated and decided.

    Args:
        method: see the module.
        folds: inner folds, by cluster of groups, whose out-of-fold scores are fitted on. With a budget of false alarms
            their fits are the detector (`trajaudit.detectors.ensemble`); without one it is fitted again on all training
            runs. 1 holds one part out instead and fits once, for detectors that are slow to train. 0 calibrates
            nothing and decides at 0.5.
        false_alarms: share of clean runs that may be flagged; null decides at a probability of 0.5.
        share: with one fold, the part that is held out.
    """

    method: Method = "platt"
    folds: int = 3
    false_alarms: float | None = 0.05
    share: float = 0.25

    def __post_init__(self) -> None:
        if self.folds < 0:
            raise ValueError(f"folds: expected 0 or more, got {self.folds}")
        if self.false_alarms is not None and not 0 < self.false_alarms < 1:
            raise ValueError(f"false_alarms: expected a share above 0 and below 1, or null, got {self.false_alarms}")
        if not 0 < self.share < 1:
            raise ValueError(f"share: expected a number between 0 and 1, got {self.share}")

    @property
    def promise(self) -> dict[str, Json]:
        """What identifies the way in which a budget is kept, beside these settings; empty where there is none."""
        return {"budget": "conformal"} if self.false_alarms is not None and self.folds else {}


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibration: ``points`` of a rising piecewise linear map from logit to probability, and the threshold.

    ``method`` "platt" and "temperature" hold slope and intercept instead. A null threshold flags nothing, for the
    ``reason`` given.
    """

    method: str = "none"
    slope: float = 1.0
    intercept: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    threshold: float | None = 0.5
    reason: str | None = None

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
        faulty = self.threshold is not None and score > self.threshold
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
    0.7
    """
    values, truth = np.array(scores, dtype=np.float64), np.array(faulty, dtype=np.bool_)
    if len(np.unique(truth)) < 2:
        raise ValueError("calibration: the inner folds hold runs of one class only; fewer inner folds, or more runs")
    fitted = _FITTED[how.method](logit(np.clip(values, _EPS, 1 - _EPS)), truth)
    threshold: float | None = 0.5
    reason: str | None = None
    if how.false_alarms is not None:
        threshold, reason = promised(fitted._map(values)[~truth].tolist(), how.false_alarms)
    return replace(fitted, threshold=threshold, reason=reason)


def promised(clean: Sequence[float], budget: float) -> tuple[float | None, str | None]:
    """Return the threshold that a new clean run passes with at most ``budget``'s probability.

    Args:
        clean: scores of clean runs that the detector was not fitted on.

    Returns:
        The score above which a run is flagged, or null and why there is none.

    >>> promised([0.1, 0.3, 0.2, 0.4], 0.4)
    (0.3, None)
    >>> promised([0.1, 0.3, 0.2, 0.4], 0.1)
    (None, '4 clean runs held out cannot promise 0.1 false alarms, 9 could; nothing is flagged')
    """
    rank = math.ceil((len(clean) + 1) * (1 - budget) - _ROUNDING)
    if rank <= len(clean):
        return sorted(clean)[rank - 1], None
    needed = math.ceil(1 / budget - 1 - _ROUNDING)
    reason = f"{len(clean)} clean runs held out cannot promise {budget:g} false alarms, {needed} could"
    return None, f"{reason}; nothing is flagged"


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
