"""Tests between two auditors on the same trajectories: McNemar and DeLong, each exact about clusters; Holm; power.

Two auditors that read the same trajectories agree on most of them, so only those on which they differ carry evidence;
an unpaired test throws that away. McNemar and DeLong both take trajectories as independent, which the runs of one
instance are not: their p values are too small where siblings agree, too large where siblings offset each other. So both
are written here for clusters, and reduce to the classical test where every cluster is one trajectory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.stats import binom, norm

from trajaudit.analysis.curves import Levels, roc_area, roc_slope
from trajaudit.analysis.statistic import BoolArray, FloatArray, IntArray

POWER = 0.8


def cluster_differences(a: BoolArray, b: BoolArray, cluster: IntArray) -> IntArray:
    """Return for each cluster how many more of its trajectories are hits of a than of b."""
    return np.bincount(cluster, a.astype(int) - b.astype(int)).astype(np.int64)


def mcnemar(a: BoolArray, b: BoolArray, cluster: IntArray | None = None) -> float:
    """Return the two-sided p value of exact McNemar, or of its generalisation to clusters.

    Under the null hypothesis the two auditors are exchangeable within a cluster, so the sign of each cluster's
    difference is a fair coin; the p value is exact over all flips. With one trajectory a cluster that is McNemar's
    binomial test; with more it is the permutation counterpart of Durkalski et al. (2003).

    Args:
        a, b: whether each auditor is right, on the same trajectories [n].
        cluster: the cluster of each trajectory [n]; null takes each as its own.

    >>> a, b = np.zeros(220, bool), np.zeros(220, bool)
    >>> a[:12], b[12:14] = True, True
    >>> round(mcnemar(a, b), 3)
    0.013
    """
    differences = cluster_differences(a, b, np.arange(len(a)) if cluster is None else cluster)
    sizes = Counter(np.abs(differences[differences != 0]).tolist())
    chance = np.ones(1)
    for size, count in sizes.items():
        signs = np.zeros(2 * count * size + 1)
        signs[:: 2 * size] = binom.pmf(np.arange(count + 1), count, 0.5)
        chance = np.convolve(chance, signs)
    reach = len(chance) // 2
    distance = abs(int(differences.sum()))
    return min(1.0, float(chance[: reach - distance + 1].sum() + chance[reach + distance :].sum()))


def delong(
    a: FloatArray, b: FloatArray, faulty: BoolArray, cluster: IntArray | None = None
) -> tuple[float, float, float | None]:
    """Return the difference of two ROC areas, its standard error and the two-sided p value (null where the error is 0).

    DeLong, DeLong and Clarke-Pearson (1988), in O(n log n); with clusters, Obuchowski (1997). A single cluster has an
    error of 0: nothing shows how clusters differ.

    Args:
        a, b: the scores of two auditors on the same trajectories [n].
        faulty: the labels [n], both classes present.
        cluster: the cluster of each trajectory [n]; null takes each as its own.

    Raises:
        ValueError: where a class is missing.
    """
    if faulty.all() or not faulty.any():
        raise ValueError("faulty: expected both faulty and clean trajectories, got one class")
    cluster = np.arange(len(faulty)) if cluster is None else cluster
    (area_a, moved_a), (area_b, moved_b) = _placements(a, faulty), _placements(b, faulty)
    moved = moved_a - moved_b
    positive = np.bincount(cluster, np.where(faulty, moved, 0.0))
    negative = np.bincount(cluster, np.where(faulty, 0.0, moved))
    variance = 2 * _corrected(len(np.unique(cluster))) * float(positive @ negative)
    for part, members in ((positive, faulty), (negative, ~faulty)):
        variance += _corrected(len(np.unique(cluster[members]))) * float(part @ part)
    several = len(np.unique(cluster)) > 1
    difference, error = area_a - area_b, sqrt(max(0.0, variance)) if several else 0.0
    return difference, error, float(2 * norm.sf(abs(difference) / error)) if error > 0 else None


def _placements(score: FloatArray, faulty: BoolArray) -> tuple[float, FloatArray]:
    """Return the ROC area and, for each trajectory, its placement less the area, over the size of its class."""
    levels = Levels.of(score, faulty, np.ones(len(score), dtype=np.bool_))
    by_faulty, by_clean = roc_slope(*levels.totals)
    moved = np.empty(len(score))
    moved[levels.rows] = np.where(levels.marked > 0, by_faulty[levels.level], by_clean[levels.level])
    return float(roc_area(*levels.totals)), moved


def _corrected(n: int) -> float:
    return n / (n - 1) if n > 1 else 1.0


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's (1979) adjusted p values over a family; a test that was not carried out stays null and uncounted.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[i] = largest
    return adjusted


def detectable_rate(differences: IntArray, n: int, alpha: float) -> float | None:
    """Return the difference of two paired rates that McNemar would find with 80 % power at level ``alpha``.

    Connor (1987), solved for the difference, with the discordance seen; clusters enter through their squared
    differences, which is the discordance itself where each is one trajectory. Null where nothing was discordant,
    and where there are so few trajectories that no difference would be found.

    Args:
        differences: of each cluster, hits of a less hits of b.
        n: the number of trajectories.
    """
    discordance = float(np.square(differences).sum()) / n
    if discordance == 0:
        return None
    z_alpha, z_power = float(norm.ppf(1 - alpha / 2)) * sqrt(discordance), float(norm.ppf(POWER))
    half, square = z_alpha * sqrt(n), n + z_power**2
    root = half**2 - square * (z_alpha**2 - z_power**2 * discordance)
    return min(1.0, (half + sqrt(root)) / square) if root >= 0 else None


def detectable(error: float, alpha: float) -> float | None:
    """Return the difference that a normal test would find with 80 % power at level ``alpha``, given its error."""
    return float(norm.ppf(1 - alpha / 2) + norm.ppf(POWER)) * error if error > 0 else None
