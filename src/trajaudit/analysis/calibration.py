"""Does the auditor know when it is right? Calibration error, Brier score, risk when it may stay silent.

Two probabilities are judged. ``ece``, ``ece_mass``, the reliability curve and ``aurc`` are about *confidence*, the
probability that the auditor's own verdict is right; ``brier`` and its parts are about the *score*, the probability of
a fault. Bins are half-open, (low, high], as in the testbed paper: a confidence of exactly 0.6 belongs to (0.5, 0.6].
Equal-mass bins keep equal confidences together and are drawn once, on the set at hand, not anew in each resample. A
calibration error is biased upward by noise, the more so the smaller its bins; its percentile interval shares the bias.

The Brier score is taken apart within ten bins, and its resolution is the generalised one of Stephenson, Coelho and
Jolliffe (2008), which takes up the variation within bins: so reliability - resolution + uncertainty is the Brier score
exactly, and where each bin holds one distinct score it is Murphy's decomposition (1973).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from trajaudit.analysis.curves import selective_risk
from trajaudit.analysis.statistic import (
    BoolArray,
    FloatArray,
    IntArray,
    Metric,
    Statistic,
    divide,
    mean,
    rate,
    undefined,
)
from trajaudit.analysis.table import Answers, Items

BINS = 10
EDGES = np.arange(BINS + 1) / BINS
METRICS = {
    "ece": Metric("calibration", "lower", "mean |accuracy - confidence| over ten equal-width bins"),
    "ece_mass": Metric("calibration", "lower", "the same over ten bins of equal mass"),
    "brier": Metric("calibration", "lower", "mean squared difference between score and label"),
    "brier_reliability": Metric("calibration", "lower", "part of the Brier score: squared miscalibration within bins"),
    "brier_resolution": Metric("calibration", "higher", "part subtracted: how far scores tell trajectories apart"),
    "brier_uncertainty": Metric("calibration", "none", "part given by the base rate alone: a property of the set"),
    "aurc": Metric("calibration", "lower", "share wrong among the surest, averaged over all shares answered"),
}


def equal_width(values: FloatArray) -> IntArray:
    """Return the bin of each value in [0, 1], bins being (0, 0.1], (0.1, 0.2] …; 0 itself falls into the first."""
    # 1 - 0.7 is 0.30000000000000004: a value that was stated as an edge must not fall into the bin above it.
    return np.clip(np.searchsorted(EDGES, np.round(values, 12), side="left") - 1, 0, BINS - 1)


def equal_mass(values: FloatArray, among: BoolArray) -> IntArray:
    """Return the bin of each value, cut at the deciles of those in ``among``; equal values share a bin."""
    inner = np.unique(np.quantile(values[among], EDGES[1:-1], method="inverted_cdf"))
    return np.searchsorted(inner, values, side="left")


def _gaps(sums: FloatArray) -> FloatArray:
    """Return the calibration error from the sums of right - confidence in each bin, then the count."""
    return divide(np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1])


def _calibration_error(bins: IntArray, gap: FloatArray, among: BoolArray) -> Statistic:
    columns = tuple(np.where(among & (bins == b), gap, 0.0) for b in np.unique(bins[among]))
    return Statistic((*columns, among), _gaps, among)


def _brier_part(sums: FloatArray, part: str) -> FloatArray:
    """Return a part of the Brier score from 3 B + 2 sums: count, score and faulty of each bin, error and count."""
    per_bin = sums[..., :-2].reshape(*sums.shape[:-1], 3, -1)
    count, score, faulty = per_bin[..., 0, :], per_bin[..., 1, :], per_bin[..., 2, :]
    error, n = sums[..., -2], sums[..., -1]
    base = divide(faulty.sum(axis=-1), n)
    uncertainty = base * (1 - base)
    reliability = divide(np.nan_to_num(divide((score - faulty) ** 2, count)).sum(axis=-1), n)
    parts = {"reliability": reliability, "uncertainty": uncertainty}
    return parts[part] if part in parts else reliability + uncertainty - divide(error, n)


def _brier(score: FloatArray, faulty: BoolArray, among: BoolArray) -> dict[str, Statistic]:
    bins = equal_width(score)
    inside = [among & (bins == b) for b in np.unique(bins[among])]
    scores = [np.where(at, score, 0.0) for at in inside]
    error = mean((score - faulty) ** 2, among, "", unit=True)
    columns = (*inside, *scores, *(at & faulty for at in inside), *error.columns)
    parts = {
        f"brier_{part}": Statistic(columns, partial(_brier_part, part=part), among, fixed=part == "uncertainty")
        for part in ("reliability", "resolution", "uncertainty")
    }
    return {"brier": error, **parts}


def calibration(items: Items, answers: Answers) -> dict[str, Statistic]:
    """Return the statistics of `METRICS`, in that order; undefined unless every counted verdict states the probability.

    Those which state none are hardly a random sample, so the rest is not scored in their place.
    """
    counted, right = answers.counted, answers.flagged == items.faulty
    confidence, score = answers.confidence, answers.score
    why_not = {"confidence": _unstated(confidence, counted), "score": _unstated(score, counted)}
    reasons = {name: why_not["score" if name.startswith("brier") else "confidence"] for name in METRICS}
    found = {name: undefined(len(counted), reason) for name, reason in reasons.items()}
    if not why_not["confidence"]:
        gap = right - confidence
        found["ece"] = _calibration_error(equal_width(confidence), gap, counted)
        found["ece_mass"] = _calibration_error(equal_mass(confidence, counted), gap, counted)
        found["aurc"] = selective_risk(confidence, ~right, counted)
    return found if why_not["score"] else {**found, **_brier(score, items.faulty, counted)}


def _unstated(values: FloatArray, counted: BoolArray) -> str:
    """Return why a probability cannot be judged, or an empty string if it can."""
    unstated, n = int(np.isnan(values[counted]).sum()), int(counted.sum())
    if n == 0:
        return "no verdict was counted"
    return f"{unstated} of {n} verdicts state neither confidence nor score" if unstated else ""


def reliability_bins(items: Items, answers: Answers) -> list[tuple[Statistic, float | None]]:
    """Return, for each of the ten equal-width bins, the accuracy of its verdicts and their mean confidence."""
    stated = answers.counted & ~np.isnan(answers.confidence)
    bins, right = equal_width(answers.confidence), answers.flagged == items.faulty
    inside = [stated & (bins == b) for b in range(BINS)]
    return [
        (rate(right, at, "no verdict in this bin"), float(answers.confidence[at].mean()) if at.any() else None)
        for at in inside
    ]
