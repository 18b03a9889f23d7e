"""The difference of one statistic on two sides of the same trajectories, with its interval from paired resamples.

The sides can be two auditors, two wordings of one prompt, or a run before and after an attack; all share one set of
weights, so what they have in common cancels. Where nothing moves in any resample the interval is Newcombe's, never of
width zero: fifty pairs without a flip do not show that none flips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajaudit.analysis.intervals import MOSTLY_DEFINED, bca, estimates, no_spread, percentile, without_spread
from trajaudit.analysis.resampling import Design, influence, replicates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import FloatArray, Statistic


@dataclass(frozen=True)
class Resampling:
    """How intervals over one set of trajectories are made: who is drawn with whom, how often, to which level."""

    plan: Design
    resamples: int
    seed: int
    level: float
    method: str

    def estimates(self, statistics: Sequence[Statistic]) -> list[Estimate]:
        return estimates(self.plan, statistics, self.resamples, self.seed, self.level, self.method)

    def difference(self, a: Statistic, b: Statistic) -> Estimate:
        """Return a minus b; undefined where one of them is, for its reason."""
        for side in (a, b):
            if side.value is None:
                return Estimate(None, n=int(side.among.sum()), reason=side.reason, level=self.level)
        of_a, of_b = replicates(self.plan, [a, b], self.resamples, self.seed)
        return paired_difference(a, b, self.plan, of_a - of_b, self.level, self.method)


def paired_difference(
    a: Statistic, b: Statistic, plan: Design, drawn: FloatArray, level: float = 0.95, method: str = "percentile"
) -> Estimate:
    """Return a minus b, both defined, with the interval of its replicates.

    Args:
        drawn: the replicates of a minus those of b, [R].
    """
    value, n = float(a.reduce(a.sums) - b.reduce(b.sums)), int((a.among | b.among).sum())
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MOSTLY_DEFINED * len(drawn):
        return Estimate(value, n=n, reason="no interval: undefined in too many resamples", level=level)
    if no_spread(defined):
        return _square_and_add(a, b, value, n, plan, level)
    if method == "bca":
        low, high = bca(defined, value, influence(plan, a) - influence(plan, b), level)
    else:
        low, high = percentile(defined, level)
    if low == high:
        return _square_and_add(a, b, value, n, plan, level)
    return Estimate(value, low, high, n, method, level=level)


def _square_and_add(a: Statistic, b: Statistic, value: float, n: int, plan: Design, level: float) -> Estimate:
    """Return Newcombe's (1998) interval of a difference from the Wilson intervals of both sides, as if unpaired.

    For a difference without spread in the resamples; leaving out the pairing makes it wider.
    """
    if not a.unit:
        return Estimate(value, value, value, n, "constant", level=level)
    (p, *of_a), (q, *of_b) = (without_spread(plan, side, level) for side in (a, b))
    low, high = value - np.hypot(p - of_a[0], of_b[1] - q), value + np.hypot(of_a[1] - p, q - of_b[0])
    return Estimate(value, float(low), float(high), n, "newcombe", level=level)


def inverted(drawn: FloatArray) -> float:
    """Return the smallest two-sided level at which the percentile interval of replicates [R] leaves out 0.

    At least 2 / (R + 1): resamples cannot show less. A replicate within rounding of 0 counts on both sides.
    """
    ends = np.sum(drawn <= 1e-12), np.sum(drawn >= -1e-12)
    return min(1.0, 2 * (float(min(ends)) + 1) / (len(drawn) + 1))
