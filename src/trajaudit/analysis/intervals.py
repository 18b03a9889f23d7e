"""Confidence intervals: percentile and BCa from bootstrap replicates, Wilson where resamples have too little to say.

A rate of 0 or 1 (or one that is 0 or 1 within every stratum) is the same in every resample, and a bootstrap interval
around it would have no width at any n; one with a handful of hits or misses is hardly better off (a true rate of 0.04
of 100 is then covered 90 % of the time instead of 95). There the Wilson score interval stands, with n the number of
*clusters* among the trajectories concerned, since repeats of one instance add no certainty; it ignores the strata. A
mean of values in [0, 1] varies no more than a rate does, so it may borrow the same interval; for areas and calibration
errors it is an approximation. ``Estimate.method`` says which interval it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.stats import norm

from trajaudit.analysis.resampling import Design, influence, replicates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import FloatArray, Statistic

METHODS = ("percentile", "bca")
RESAMPLES = 10_000
FEW = 5
"""A rate with fewer hits or fewer misses than this gets a Wilson interval."""
MOSTLY_DEFINED = 0.95
"""A metric that is undefined in more of its resamples than the rest gets no interval."""


def wilson(successes: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a rate (Wilson 1927).

    >>> low, high = wilson(0, 25)
    >>> f"[{low:.3f}, {high:.3f}]"
    '[0.000, 0.133]'
    """
    z2 = float(norm.ppf((1 + level) / 2)) ** 2
    rate = successes / n
    centre, half = rate + z2 / (2 * n), sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n)))
    low, high = (centre - half) / (1 + z2 / n), (centre + half) / (1 + z2 / n)
    return (0.0 if successes == 0 else max(0.0, low)), (1.0 if successes == n else min(1.0, high))


def percentile(drawn: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the central ``level`` of bootstrap replicates [R]."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca(drawn: FloatArray, value: float, influences: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval (Efron 1987).

    Args:
        drawn: bootstrap replicates [R].
        value: the estimate.
        influences: the influence of each cluster, centred within strata (`trajaudit.analysis.resampling.influence`).
    """
    below = (np.sum(drawn < value) + np.sum(drawn <= value)) / 2
    bias = norm.ppf(np.clip(below, 0.5, len(drawn) - 0.5) / len(drawn))
    spread = np.sum(influences**2)
    acceleration = np.sum(influences**3) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + norm.ppf([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(drawn, norm.cdf(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


def no_spread(drawn: FloatArray) -> bool:
    """Whether all replicates are the same number, but for rounding."""
    return float(np.ptp(drawn)) <= 1e-9 * max(1.0, float(np.abs(drawn[0])))


def estimate(
    plan: Design, statistic: Statistic, drawn: FloatArray | None, level: float = 0.95, method: str = "percentile"
) -> Estimate:
    """Return a statistic's value with its interval from its own replicates [R] (null where none were drawn)."""
    value, n = statistic.value, int(statistic.among.sum())
    if value is None:
        return Estimate(None, n=n, reason=statistic.reason, level=level)
    if statistic.fixed or drawn is None:
        return Estimate(value, n=n, reason="a property of the set, not an estimate", level=level)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MOSTLY_DEFINED * len(drawn):
        share = 1 - len(defined) / len(drawn)
        return Estimate(value, n=n, reason=f"no interval: undefined in {share:.0%} of the resamples", level=level)
    low, high = value, value
    if not no_spread(defined) and not _few_events(statistic):
        bounded = bca(defined, value, influence(plan, statistic), level) if method == "bca" else None
        low, high = bounded or percentile(defined, level)
    if low == high:  # nothing moved, or too little for the quantiles to show: resamples cannot give an interval
        _, low, high = without_spread(plan, statistic, level)
        method = "wilson" if statistic.unit else "constant"
    return Estimate(value, low, high, n, method, level=level)


def _few_events(statistic: Statistic) -> bool:
    hits, n = statistic.sums[:2] if statistic.is_rate else (FEW, 2 * FEW)
    return bool(min(hits, n - hits) < FEW)


def without_spread(plan: Design, statistic: Statistic, level: float) -> tuple[float, float, float]:
    """Return value, low and high of a defined statistic by Wilson's interval on clusters; a constant as it is."""
    value = statistic.value
    assert value is not None
    if not statistic.unit:
        return value, value, value
    basis = statistic.among if statistic.basis is None else statistic.basis
    clusters = len(np.unique(plan.cluster[basis]))
    return (value, *wilson(value * clusters, clusters, level))


def estimates(
    plan: Design,
    statistics: Sequence[Statistic],
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> list[Estimate]:
    """Return an estimate for each statistic, all from one set of resamples.

    Raises:
        ValueError: for an unknown method, a level outside (0, 1) or fewer than two resamples.
    """
    if method not in METHODS or not 0 < level < 1 or resamples < 2:
        expected = f"a method of {', '.join(METHODS)}, a level in (0, 1), at least two resamples"
        raise ValueError(f"interval: expected {expected}; got {method!r}, {level}, {resamples}")
    wanted = [i for i, s in enumerate(statistics) if s.value is not None and not s.fixed]
    rows = replicates(plan, [statistics[i] for i in wanted], resamples, seed)
    drawn = dict(zip(wanted, rows, strict=True))
    return [estimate(plan, s, drawn.get(i), level, method) for i, s in enumerate(statistics)]
