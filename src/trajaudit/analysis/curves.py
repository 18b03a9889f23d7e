"""Metrics of an order: areas under the ROC, precision-recall and risk-coverage curves.

Each is a function of two running sums over the distinct scores, from the highest down: of marked trajectories and of
all. Scores are sorted once; a resample only re-weights them. Trajectories of equal score are one level and no order
among them is assumed, so the order of the file cannot move an area (a tie counts one half in the ROC area; precision
and risk are read at the end of a level).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajaudit.analysis.statistic import BoolArray, Columns, FloatArray, IntArray, Statistic, divide

FEW_LEVELS = 128
"""Up to this many distinct scores, sums are taken level by level (cheaper); above it, trajectory by trajectory."""
Area = Callable[[FloatArray, FloatArray], FloatArray]
"""From running sums of marked and of all, both [..., L], to values [...]."""
Slope = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""From the same sums, [L], to how an area moves with one more marked and one more other trajectory at each level."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Some trajectories by falling score: their rows, level and mark, each [m], and where each level ends, [L]."""

    rows: IntArray
    level: IntArray
    marked: FloatArray
    ends: IntArray
    n: int

    @classmethod
    def of(cls, score: FloatArray, marked: BoolArray, among: BoolArray) -> Levels:
        """Order the trajectories in ``among`` by ``score``; all arrays [n]."""
        rows = np.flatnonzero(among)
        rows = rows[np.argsort(-score[rows], kind="stable")]
        falling = score[rows]
        new = np.append(True, falling[1:] != falling[:-1])[: len(rows)]
        ends = np.append(np.flatnonzero(new)[1:] - 1, len(rows) - 1)[: len(rows)]
        return cls(rows, np.cumsum(new) - 1, marked[rows].astype(float), ends, len(score))

    @cached_property
    def columns(self) -> Columns:
        """The marked and the others of each level in turn, or the rows themselves where there are many levels."""
        if len(self.ends) > FEW_LEVELS:
            return self.rows
        level = np.full(self.n, -1)
        level[self.rows] = self.level
        marked = np.zeros(self.n, dtype=np.bool_)
        marked[self.rows] = self.marked > 0
        inside = [level == i for i in range(len(self.ends))]
        return tuple([at & marked for at in inside] + [at & ~marked for at in inside])

    def running(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the running sums of marked and of all at each level, [..., L], from sums of `columns`."""
        sums = np.ascontiguousarray(sums)
        count = len(self.ends)
        if not isinstance(self.columns, tuple):
            both = np.cumsum(sums * self.marked, axis=-1), np.cumsum(sums, axis=-1)
            marked, everyone = both if count == len(self.rows) else (np.take(s, self.ends, axis=-1) for s in both)
            return marked, everyone
        marked, other = (np.cumsum(half, axis=-1) for half in (sums[..., :count], sums[..., count:]))
        return marked, marked + other

    @property
    def totals(self) -> tuple[FloatArray, FloatArray]:
        """The running sums without weights, [L] each."""
        return np.cumsum(self.marked)[self.ends], (self.ends + 1).astype(float)

    def statistic(self, area: Area, slope: Slope, among: BoolArray, basis: BoolArray | None = None) -> Statistic:
        """Return the statistic of an area under this order."""

        def reduce(sums: FloatArray) -> FloatArray:
            return area(*self.running(sums))

        def gradient(_: FloatArray) -> FloatArray:
            by_marked, by_other = slope(*self.totals)
            return np.where(self.marked > 0, by_marked[self.level], by_other[self.level])

        by_level = isinstance(self.columns, tuple)
        return Statistic(self.columns, reduce, among, basis=basis, gradient=None if by_level else gradient)


def _steps(running: FloatArray) -> FloatArray:
    """Return the sums at each level from running sums."""
    steps = running.copy()
    steps[..., 1:] -= running[..., :-1]
    return steps


def _share(marked: FloatArray, everyone: FloatArray) -> FloatArray:
    """Return the running share of marked; 0 before the first trajectory that has any weight."""
    return marked / np.maximum(everyone, np.finfo(float).tiny)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.einsum("...l,...l->...", a, b)


def roc_area(marked: FloatArray, everyone: FloatArray) -> FloatArray:
    """Return the probability that a marked trajectory outranks another, ties counting one half."""
    other = everyone - marked
    outranking = marked - _steps(marked) / 2
    return divide(_dot(_steps(other), outranking), marked[..., -1] * other[..., -1])


def roc_slope(marked: FloatArray, everyone: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slope of `roc_area`: DeLong's placement values less the area, over the size of the class."""
    other = everyone - marked
    area, positives, negatives = roc_area(marked, everyone), marked[-1], other[-1]
    beaten = 1 - (other - _steps(other) / 2) / negatives
    beaten_by = (marked - _steps(marked) / 2) / positives
    return (beaten - area) / positives, (beaten_by - area) / negatives


def mean_precision(marked: FloatArray, everyone: FloatArray) -> FloatArray:
    """Return the average precision: the share marked at or above each score, averaged over the marked."""
    return divide(_dot(_steps(marked), _share(marked, everyone)), marked[..., -1])


def mean_risk(marked: FloatArray, everyone: FloatArray) -> FloatArray:
    """Return the share marked at or above each score, averaged over all."""
    return divide(_dot(_steps(everyone), _share(marked, everyone)), everyone[..., -1])


def _share_slope(marked: FloatArray, everyone: FloatArray, averaged: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how the summed shares at and below each level move with one more marked and one more other there."""
    share = _share(marked, everyone)
    moved = np.stack([1 - share, -share]) * _steps(averaged) / everyone
    by_marked, by_other = np.cumsum(moved[:, ::-1], axis=1)[:, ::-1]
    return by_marked, by_other


def precision_slope(marked: FloatArray, everyone: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slope of `mean_precision`."""
    by_marked, by_other = _share_slope(marked, everyone, marked)
    own = _share(marked, everyone) - mean_precision(marked, everyone)
    return (own + by_marked) / marked[-1], by_other / marked[-1]


def risk_slope(marked: FloatArray, everyone: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slope of `mean_risk`."""
    by_marked, by_other = _share_slope(marked, everyone, everyone)
    own = _share(marked, everyone) - mean_risk(marked, everyone)
    return (own + by_marked) / everyone[-1], (own + by_other) / everyone[-1]


def ranking(score: FloatArray, faulty: BoolArray, among: BoolArray) -> dict[str, Statistic]:
    """Return ``roc_auc`` and ``average_precision`` of scores over trajectories of both classes."""
    levels = Levels.of(score, faulty, among)
    positives = int(levels.marked.sum())
    rarer = among & (faulty if 2 * positives <= len(levels.rows) else ~faulty)
    areas: dict[str, tuple[Area, Slope]] = {
        "roc_auc": (roc_area, roc_slope),
        "average_precision": (mean_precision, precision_slope),
    }
    return {name: levels.statistic(area, slope, among, rarer) for name, (area, slope) in areas.items()}


def selective_risk(confidence: FloatArray, wrong: BoolArray, among: BoolArray) -> Statistic:
    """Return the area under the risk-coverage curve (Geifman and El-Yaniv 2017): the mean risk over all thresholds."""
    return Levels.of(confidence, wrong, among).statistic(mean_risk, risk_slope, among)


def risk_coverage(confidence: FloatArray, wrong: BoolArray, among: BoolArray, points: int = 200) -> FloatArray:
    """Return the risk-coverage curve, [at most ``points``, 2]: share answered, share wrong among those.

    One point for each distinct confidence, from the surest down; thinned evenly where there are more than ``points``.
    """
    if not among.any():
        return np.zeros((0, 2))
    marked, everyone = Levels.of(confidence, wrong, among).totals
    kept = np.unique(np.linspace(0, len(marked) - 1, min(len(marked), points)).astype(int))
    return np.column_stack([everyone / everyone[-1], marked / everyone])[kept]
