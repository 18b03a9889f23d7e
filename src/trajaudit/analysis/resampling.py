"""The stratified cluster bootstrap: which trajectories are drawn together, and the replicates of every metric at once.

Three choices here change the intervals.

*Clusters are kept whole.* The runs of one instance (a clean one and its mutants) share goal, thoughts and difficulty,
so they are one draw (`Trajectory.group`), not several; treating them as independent makes intervals too short.

*Clusters are stratified by profile.* The set is built with fixed numbers of clean, silent and loud runs of each type,
and resamples should keep them; but one cluster spans several of those strata. So the strata of the bootstrap are the
clusters' *profiles*: the multiset of (stratum, type) of a cluster's trajectories. Drawing within a profile keeps both
the clusters whole and the counts of the design exact. Profiles of fewer than five clusters are pooled, since a stratum
of one or two clusters has next to no spread to resample.

*Draws are rescaled.* From a stratum of m clusters m - 1 are drawn, each weighing m / (m - 1) (Rao and Wu 1988).
Drawing m would lose 1/m of the stratum's variance: a fifth of it with five clusters.

Weights are drawn once for all auditors and metrics, so that differences between them are paired; they depend on the
seed and the set, not on the order of the trajectories or on how many resamples are held in memory at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trajaudit.analysis.statistic import FloatArray, IntArray, Statistic
from trajaudit.analysis.table import Items

RARE = 5
"""A profile of fewer clusters than this is pooled with the next rarest."""
HELD = 2**22
"""How many weights and sums are held in memory at once (numbers of eight bytes)."""
CACHED = 2**16
"""How many weights of single trajectories are worked on at once."""


@dataclass(frozen=True, eq=False)
class Design:
    """Who is resampled with whom: the cluster of each trajectory [n], and the number of clusters of each stratum [H].

    Clusters are numbered stratum by stratum.
    """

    cluster: IntArray
    sizes: IntArray

    @property
    def clusters(self) -> int:
        return int(self.sizes.sum())

    @property
    def clustered(self) -> bool:
        """Whether any cluster holds more than one trajectory."""
        return self.clusters < len(self.cluster)


def design(items: Items) -> Design:
    """Return the design of a labelled set: clusters are its groups, strata their profiles."""
    profiles: dict[str, list[tuple[str, str]]] = {}
    for group, stratum, kind in zip(items.groups, items.stratum.tolist(), items.type.tolist(), strict=True):
        profiles.setdefault(group, []).append((stratum, kind))
    profile = {group: tuple(sorted(members)) for group, members in profiles.items()}
    stratum_of = _pool(Counter(profile.values()))
    order = sorted(profile, key=lambda group: (stratum_of[profile[group]], group))
    number = {group: i for i, group in enumerate(order)}
    sizes = np.bincount([stratum_of[profile[group]] for group in order])
    return Design(np.array([number[group] for group in items.groups]), sizes)


def _pool(counts: Counter[tuple[tuple[str, str], ...]]) -> dict[tuple[tuple[str, str], ...], int]:
    """Number the strata; the rarest profiles share stratum 0 until it and every later one has `RARE` clusters."""
    stratum_of, pooled, stratum = {}, 0, 0
    for profile, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        if pooled >= RARE and count >= RARE:
            stratum += 1
        else:
            pooled += count
        stratum_of[profile] = stratum
    return stratum_of


def draw(plan: Design, resamples: int, seed: int, at_once: int) -> Iterator[FloatArray]:
    """Yield cluster weights of shape [at most ``at_once``, clusters], until there were ``resamples`` rows."""
    rng = np.random.default_rng(seed)
    draws = np.maximum(plan.sizes - 1, 1)
    size, first = np.repeat(plan.sizes, draws), np.repeat(np.cumsum(plan.sizes) - plan.sizes, draws)
    weight = np.repeat(plan.sizes / draws, plan.sizes)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = (rng.random((rows, len(size))) * size).astype(np.int64)
        drawn += first + np.arange(rows)[:, None] * plan.clusters
        counts = np.bincount(drawn.ravel(), minlength=rows * plan.clusters)
        yield counts.reshape(rows, plan.clusters) * weight


def cluster_sums(plan: Design, columns: Sequence[np.ndarray]) -> FloatArray:
    """Return the sums of each column within each cluster, [K, clusters]."""
    sums = np.empty((len(columns), plan.clusters))
    for i, column in enumerate(columns):
        sums[i] = np.bincount(plan.cluster, weights=column, minlength=plan.clusters)
    return sums


def replicates(plan: Design, statistics: Sequence[Statistic], resamples: int, seed: int) -> FloatArray:
    """Return the bootstrap replicates of statistics over the same trajectories, [len(statistics), resamples].

    Row i holds what statistic i is in each resample, NaN where it is undefined there. Each distinct column is summed
    once, all of them in one matrix product; where columns stand for single rows, their sums are the rows' weights.
    """
    if not statistics or not plan.clusters:
        return np.full((len(statistics), resamples), np.nan)
    distinct = {id(column): column for s in statistics if isinstance(s.columns, tuple) for column in s.columns}
    of_cluster = cluster_sums(plan, list(distinct.values()))
    row = {key: i for i, key in enumerate(distinct)}
    chosen = [
        [row[id(column)] for column in s.columns] if isinstance(s.columns, tuple) else plan.cluster[s.columns]
        for s in statistics
    ]
    out = np.empty((len(statistics), resamples))
    done = 0
    for weights in draw(plan, resamples, seed, max(1, HELD // sum(of_cluster.shape))):
        sums = of_cluster @ weights.T
        for i, (statistic, at) in enumerate(zip(statistics, chosen, strict=True)):
            values = statistic.reduce(sums[at].T) if isinstance(at, list) else _by_row(statistic, weights, at)
            out[i, done : done + len(weights)] = values
        done += len(weights)
    return out


def _by_row(statistic: Statistic, weights: FloatArray, at: IntArray) -> FloatArray:
    """Return the values of a statistic whose columns are single rows, in slices that fit the processor's cache."""
    step = max(1, CACHED // len(at))
    slices = [weights[start : start + step] for start in range(0, len(weights), step)]
    return np.concatenate([statistic.reduce(np.take(some, at, axis=1)) for some in slices])


def influence(plan: Design, statistic: Statistic) -> FloatArray:
    """Return how much the value moves with each cluster's weight, [clusters], centred within each stratum.

    The derivative where the statistic has one, else what leaving the cluster out changes; undefined counts as 0.
    """
    columns, total = statistic.columns, statistic.sums
    if isinstance(columns, tuple):
        without = total[:, None] - cluster_sums(plan, columns)
        moved = np.nan_to_num(statistic.reduce(total) - statistic.reduce(without.T))
    else:
        assert statistic.gradient is not None
        slope = np.zeros(len(plan.cluster))
        slope[columns] = statistic.gradient(total)
        moved = cluster_sums(plan, [slope])[0]
    stratum = np.repeat(np.arange(len(plan.sizes)), plan.sizes)
    return moved - (np.bincount(stratum, moved) / plan.sizes)[stratum]
