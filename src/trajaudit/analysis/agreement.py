"""How far two sides agree: Cohen's kappa, F1 of one side taken as truth, and the overlap of sets of types.

Kappa corrects agreement for what two sides with these base rates would reach by chance, which makes it low for rare
types even where raw agreement is high; it is therefore never shown without the four counts that it comes from. All are
functions of column sums, so they get their intervals from the same resampling as every other metric; clusters are
whatever the two sides looked at in common (in Trajel the question, which six models answered).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajaudit.analysis.resampling import Design
from trajaudit.analysis.statistic import BoolArray, FloatArray, Statistic, divide, mean


def clustered(clusters: Sequence[str]) -> Design:
    """Return the design of items [n] that are resampled by cluster, in one stratum."""
    names, number = np.unique(np.array(clusters), return_inverse=True)
    return Design(number.astype(np.int64), np.array([len(names)]))


def _kappa(sums: FloatArray) -> FloatArray:
    """Return Cohen's (1960) kappa from the sums of both, a, b and the count."""
    both, a, b, n = (sums[..., i] for i in range(4))
    observed = divide(n - a - b + 2 * both, n)
    expected = divide(a * b + (n - a) * (n - b), n * n)
    return divide(observed - expected, 1 - expected)


def cohen_kappa(a: BoolArray, b: BoolArray, among: BoolArray) -> Statistic:
    """Return Cohen's kappa of two binary labels [n] over the items in ``among``."""
    columns = (a & b & among, a & among, b & among, among)
    reason = "both sides say the same of every item: chance explains all" if among.any() else "no item"
    return Statistic(columns, _kappa, among, reason, unit=False)


def _f1(sums: FloatArray) -> FloatArray:
    return divide(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def agreement_f1(said: BoolArray, true: BoolArray, among: BoolArray) -> Statistic:
    """Return the F1 of ``said`` [n] where ``true`` is taken as the truth."""
    return Statistic((said & true & among, said & among, true & among), _f1, among & (said | true), "neither names it")


def jaccard(a: BoolArray, b: BoolArray, among: BoolArray) -> Statistic:
    """Return the mean over items of the overlap of two sets, given as [n, types]; two empty sets overlap wholly."""
    union = (a | b).sum(axis=1)
    overlap = np.where(union > 0, (a & b).sum(axis=1) / np.maximum(union, 1), 1.0)
    return mean(overlap, among, "no item", unit=True)
