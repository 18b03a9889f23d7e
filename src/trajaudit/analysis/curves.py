"""Metrics of an order: areas under the ROC, precision-recall and risk-coverage curves.

Each is a function of two sums at every distinct score, of marked trajectories and of the others, taken from the
highest score down; so scores are sorted once and a resample only re-weights them. Trajectories of equal score are one
level: no order among them is assumed, so the order of the file cannot move an area (a tie counts one half in the ROC
area, and precision and risk are read at the end of the level).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from trajaudit.analysis.statistic import BoolArray, Columns, FloatArray, Statistic, divide

FEW_LEVELS = 64
"""Up to this many distinct scores the levels are dense columns (the cheaper product), above it a sparse matrix."""


def level_columns(score: FloatArray, marked: BoolArray, among: BoolArray) -> Columns:
    """Return the 2L columns of the L distinct scores among ``among``: marked by falling score, then the others."""
    distinct, code = np.unique(-score[among], return_inverse=True)
    level = np.full(len(score), -1)
    level[among] = code
    count = len(distinct)
    if count <= FEW_LEVELS:
        levels = [level == i for i in range(count)]
        return tuple([at & marked for at in levels] + [at & ~marked for at in levels])
    rows = np.flatnonzero(among)
    column = level[rows] + np.where(marked[rows], 0, count)
    return sparse.csr_array((np.ones(len(rows)), (rows, column)), shape=(len(score), 2 * count))


def _halves(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of marked and of other trajectories, each [..., L] and contiguous, for fast running sums."""
    half = sums.shape[-1] // 2
    return np.ascontiguousarray(sums[..., :half]), np.ascontiguousarray(sums[..., half:])


def roc_area(sums: FloatArray) -> FloatArray:
    """Return the probability that a marked trajectory outranks another, ties counting one half."""
    marked, other = _halves(sums)
    total = other.sum(axis=-1)
    outranked = total[..., None] - np.cumsum(other, axis=-1) + other / 2
    return divide(np.einsum("...l,...l->...", marked, outranked), marked.sum(axis=-1) * total)


def roc_area_gradient(sums: FloatArray) -> FloatArray:
    """Return the derivative of `roc_area` by each sum, [2L]."""
    marked, other = _halves(sums)
    positives, negatives = marked.sum(), other.sum()
    beaten = (negatives - np.cumsum(other) + other / 2) / negatives
    beaten_by = (np.cumsum(marked) - marked / 2) / positives
    area = roc_area(sums)
    return np.concatenate([(beaten - area) / positives, (beaten_by - area) / negatives])


def mean_precision(sums: FloatArray) -> FloatArray:
    """Return the average precision: the share marked at or above each score, averaged over the marked."""
    marked, other = _halves(sums)
    at_or_above = np.cumsum(marked, axis=-1)
    share = np.nan_to_num(divide(at_or_above, at_or_above + np.cumsum(other, axis=-1)))
    return divide(np.einsum("...l,...l->...", marked, share), marked.sum(axis=-1))


def mean_risk(sums: FloatArray) -> FloatArray:
    """Return the share marked at or above each score, averaged over all trajectories."""
    marked, other = _halves(sums)
    everyone = marked + other
    share = np.nan_to_num(divide(np.cumsum(marked, axis=-1), np.cumsum(everyone, axis=-1)))
    return divide(np.einsum("...l,...l->...", everyone, share), everyone.sum(axis=-1))


def _share_gradient(sums: FloatArray, averaged: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the share marked at or above each level, and how a marked or another one there moves its mean."""
    marked, other = _halves(sums)
    above = np.cumsum(marked + other)
    share = np.cumsum(marked) / above
    from_here = np.cumsum((averaged * np.stack([1 - share, -share]) / above)[:, ::-1], axis=1)[:, ::-1]
    return share, from_here[0], from_here[1]


def mean_precision_gradient(sums: FloatArray) -> FloatArray:
    """Return the derivative of `mean_precision` by each sum, [2L]."""
    marked, _ = _halves(sums)
    share, by_marked, by_other = _share_gradient(sums, marked)
    return np.concatenate([share - mean_precision(sums) + by_marked, by_other]) / marked.sum()


def mean_risk_gradient(sums: FloatArray) -> FloatArray:
    """Return the derivative of `mean_risk` by each sum, [2L]."""
    marked, other = _halves(sums)
    share, by_marked, by_other = _share_gradient(sums, marked + other)
    moved = share - mean_risk(sums)
    return np.concatenate([moved + by_marked, moved + by_other]) / sums.sum()


def ranking(score: FloatArray, faulty: BoolArray, among: BoolArray) -> dict[str, Statistic]:
    """Return ``roc_auc`` and ``average_precision`` of scores; both are null where only one class is there."""
    positives, negatives = int((faulty & among).sum()), int((~faulty & among).sum())
    columns = level_columns(score, faulty, among)
    missing = "faulty" if positives == 0 else "clean"
    reason = f"no {missing} trajectory among those scored: one class has no order to get right"
    rarer = among & (faulty if positives <= negatives else ~faulty)
    areas = {"roc_auc": (roc_area, roc_area_gradient), "average_precision": (mean_precision, mean_precision_gradient)}
    if positives == 0 or negatives == 0:
        columns = (np.zeros(len(score), dtype=np.bool_),) * 2
    return {
        name: Statistic(columns, area, among, reason, basis=rarer, gradient=gradient)
        for name, (area, gradient) in areas.items()
    }


def selective_risk(confidence: FloatArray, wrong: BoolArray, among: BoolArray, reason: str) -> Statistic:
    """Return the area under the risk-coverage curve (Geifman and El-Yaniv 2017): the mean risk over all thresholds."""
    columns = level_columns(confidence, wrong, among) if among.any() else (among, among)
    return Statistic(columns, mean_risk, among, reason, gradient=mean_risk_gradient)


def risk_coverage(confidence: FloatArray, wrong: BoolArray, among: BoolArray, points: int = 200) -> FloatArray:
    """Return the risk-coverage curve, [at most ``points`` + 1, 2]: share answered, share wrong among those.

    One point for each distinct confidence, from the surest down; thinned evenly where there are more than ``points``.
    """
    order = np.argsort(-confidence[among], kind="stable")
    sure, errors = confidence[among][order], np.cumsum(wrong[among][order])
    ends = np.flatnonzero(np.append(sure[1:] != sure[:-1], True)) if len(sure) else np.array([], dtype=np.int64)
    kept = ends[np.unique(np.linspace(0, len(ends) - 1, min(len(ends), points)).astype(int))] if len(ends) else ends
    return np.column_stack([(kept + 1) / max(1, len(sure)), errors[kept] / (kept + 1)])
