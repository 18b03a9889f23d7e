"""What every metric here is: a function of per-trajectory column sums.

A `Statistic` holds columns, one number a trajectory each, and a rule that turns their sums into the metric's value
(recall: the sum of "faulty and flagged" over the sum of "faulty"). That one object yields the estimate (plain sums),
its bootstrap replicates (weighted sums) and its influence values, so an interval can never belong to another estimator
than the value beside it; and since weighted sums are matrix products, ten thousand resamples cost no loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
TextArray = npt.NDArray[np.str_]
Columns = tuple[npt.NDArray, ...] | IntArray
"""Either K arrays of shape [n]; or K row numbers, each standing for the column that holds 1 in that row alone."""


@dataclass(frozen=True)
class Metric:
    """What a table says of a metric: its group, which way is better (``higher``, ``lower``, ``none``), its meaning."""

    group: str
    better: str
    meaning: str


@dataclass(frozen=True, eq=False)
class Statistic:
    """A metric of one auditor on n trajectories.

    Attributes:
        columns: K columns over the n trajectories; two statistics that share one array share its sums.
        reduce: from column sums of shape [..., K] to values of shape [...], NaN where undefined.
        among: the trajectories in the denominator, [n].
        reason: why the value is undefined, where it is.
        unit: whether the value lies in [0, 1], so that a Wilson interval can stand in where resamples have no spread.
        fixed: whether the value belongs to the set and not to the auditor, so that it has no interval.
        basis: the trajectories whose clusters such a Wilson interval counts, [n]; ``among`` if null.
        gradient: from sums [K] to the derivative of ``reduce`` [K]; null where K is small, so that leaving out one
            cluster at a time is cheap.
    """

    columns: Columns
    reduce: Callable[[FloatArray], FloatArray]
    among: BoolArray
    reason: str = ""
    unit: bool = True
    fixed: bool = False
    basis: BoolArray | None = None
    gradient: Callable[[FloatArray], FloatArray] | None = None

    @property
    def sums(self) -> FloatArray:
        """The unweighted column sums, [K]."""
        if isinstance(self.columns, tuple):
            return np.array([column.sum(dtype=np.float64) for column in self.columns])
        return np.ones(len(self.columns))

    @property
    def is_rate(self) -> bool:
        """Whether this is a share of hits (the first column) in ``among`` (the second)."""
        return self.reduce is quotient and isinstance(self.columns, tuple) and self.columns[0].dtype == np.bool_

    @property
    def value(self) -> float | None:
        """The estimate, or None where it is undefined (``reason`` then says why)."""
        value = float(self.reduce(self.sums))
        return value if np.isfinite(value) else None


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the quotient, NaN where the denominator is 0."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    return np.divide(numerator, denominator, out=np.full(shape, np.nan), where=denominator != 0)


def quotient(sums: FloatArray) -> FloatArray:
    """Return the first column's sum over the second's."""
    return divide(sums[..., 0], sums[..., 1])


def rate(hits: BoolArray, among: BoolArray, reason: str, *, fixed: bool = False) -> Statistic:
    """Return the share of ``hits`` in ``among``."""
    return Statistic((hits & among, among), quotient, among, reason, fixed=fixed)


def mean(values: FloatArray, among: BoolArray, reason: str, *, unit: bool = False) -> Statistic:
    """Return the mean of ``values`` over ``among``."""
    return Statistic((np.where(among, values, 0.0), among), quotient, among, reason, unit=unit)


def undefined(n: int, reason: str) -> Statistic:
    """Return a metric over n trajectories that has no value, for a reason that is known beforehand."""
    nobody = np.zeros(n, dtype=np.bool_)
    return Statistic((nobody, nobody), quotient, nobody, reason)
