"""Is one auditor better than another? Paired differences with intervals, tests, Holm over the family, and power.

Every comparison is over the same trajectories and the same resamples. The test follows from the metric:

- a rate whose denominator is the same for both (recalls, false alarm, accuracy, joint localisation and typing):
  exact McNemar, with signs flipped cluster by cluster where clusters hold several trajectories;
- ``roc_auc``: DeLong, with Obuchowski's variance where clusters hold several trajectories;
- everything else: the paired bootstrap, its p value the smallest two-sided level at which the percentile interval
  leaves out 0.

``by_item=True`` takes trajectories as independent instead, which gives the classical McNemar and DeLong tests. With a
handful of discordant trajectories trust the exact test over the bootstrap interval beside it. The family of Holm's
correction is all comparisons of one call: declare it before looking. The minimum detectable effect stands beside each,
so that "no difference found" can be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from trajaudit._fields import nearest
from trajaudit.analysis.differences import inverted, paired_difference
from trajaudit.analysis.intervals import MOSTLY_DEFINED, RESAMPLES, no_spread
from trajaudit.analysis.metrics import METRICS, statistics
from trajaudit.analysis.paired import cluster_differences, delong, detectable, detectable_rate, holm, mcnemar
from trajaudit.analysis.resampling import Design, design, replicates
from trajaudit.analysis.result import Comparison, Estimate
from trajaudit.analysis.statistic import BoolArray, FloatArray, IntArray, Statistic
from trajaudit.analysis.table import Answers, Items, under

Pair = tuple[str, str]


def compare(
    items: Items,
    answers: Mapping[str, Answers],
    metrics: Sequence[str],
    pairs: Iterable[Pair] | None = None,
    *,
    family: str = "all comparisons",
    convention: str = "published",
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    reference: str = "rules",
    by_item: bool = False,
    only: Collection[tuple[str, str, str]] | None = None,
) -> list[Comparison]:
    """Compare auditors pairwise on metrics; one row a pair and metric, all of one family.

    Args:
        metrics: names in ``METRICS``.
        pairs: (a, b), the difference being a minus b; every pair of auditors where null.
        only: the (metric, a, b) of the family, where it is not every metric for every pair.
        family: what the declared family is called in tables.
        convention: ``published``, or ``answered``: then over the trajectories that both auditors of a pair answered.
        by_item: test as if trajectories of one cluster were independent.

    Raises:
        ValueError: for an unknown metric or auditor.
    """
    pairs = list(combinations(answers, 2)) if pairs is None else list(pairs)
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"metrics: unknown metric {name!r}{nearest(name, METRICS)}")
    for name in (name for pair in pairs for name in pair):
        if name not in answers:
            raise ValueError(f"pairs: no verdicts of {name!r}{nearest(name, answers)}")
    contrasts = [
        contrast
        for pair in pairs
        for contrast in _contrasts(items, answers, pair, metrics, convention, reference)
        if only is None or (contrast.metric, *pair) in only
    ]
    plan = design(items)
    drawn = replicates(plan, [s for contrast in contrasts for s in contrast.sides], resamples, seed)
    alpha = (1 - level) / max(1, sum(contrast.undefined is None for contrast in contrasts))
    rows = [
        _compared(contrast, plan, drawn[2 * i] - drawn[2 * i + 1], level, method, alpha, by_item)
        for i, contrast in enumerate(contrasts)
    ]
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_holm=p, family=family) for row, p in zip(rows, adjusted, strict=True)]


@dataclass(frozen=True, eq=False)
class _Contrast:
    """One metric of two auditors over the same trajectories."""

    metric: str
    pair: Pair
    sides: tuple[Statistic, Statistic]
    answers: tuple[Answers, Answers]
    faulty: BoolArray

    @property
    def undefined(self) -> str | None:
        """Why there is nothing to compare, if so."""
        for name, side in zip(self.pair, self.sides, strict=True):
            if side.value is None:
                return f"{name}: {side.reason}"
        return "a property of the set, the same for every auditor" if self.sides[0].fixed else None

    @property
    def among(self) -> BoolArray:
        return self.sides[0].among | self.sides[1].among

    @property
    def paired_rates(self) -> bool:
        """Whether both are shares of hits among the same trajectories, which is what McNemar compares."""
        a, b = self.sides
        return a.is_rate and b.is_rate and bool(np.array_equal(a.among, b.among))


def _contrasts(
    items: Items, answers: Mapping[str, Answers], pair: Pair, metrics: Sequence[str], convention: str, reference: str
) -> list[_Contrast]:
    a, b = (under(answers[name], convention) for name in pair)
    both = a.counted & b.counted
    a, b = replace(a, counted=both), replace(b, counted=both)
    own, theirs = (statistics(items, side, answers.get(reference)) for side in (a, b))
    return [_Contrast(name, pair, (own[name], theirs[name]), (a, b), items.faulty) for name in metrics]


def _compared(
    contrast: _Contrast, plan: Design, drawn: FloatArray, level: float, method: str, alpha: float, by_item: bool
) -> Comparison:
    """Return one row, without what the family adds."""
    a, b = contrast.pair
    if contrast.undefined is not None:
        nothing = Estimate(None, n=int(contrast.among.sum()), reason=contrast.undefined, level=level)
        return Comparison(contrast.metric, a, b, nothing, "", None, reason=contrast.undefined)
    difference = paired_difference(*contrast.sides, plan, drawn, level, method)
    cluster = np.arange(len(plan.cluster)) if by_item else plan.cluster
    test, p_value, mde = _tested(
        contrast, cluster, drawn, alpha, "" if by_item or not plan.clustered else " by cluster"
    )
    reason = None if p_value is not None else "no test: the two never differ, or by the same in every resample"
    return Comparison(contrast.metric, a, b, difference, test, p_value, mde=mde, reason=reason)


def _tested(
    contrast: _Contrast, cluster: IntArray, drawn: FloatArray, alpha: float, suffix: str
) -> tuple[str, float | None, float | None]:
    """Return the test's name, its p value and the minimum detectable effect."""
    a, b = contrast.sides
    if contrast.paired_rates:
        moved = cluster_differences(a.columns[0], b.columns[0], cluster)
        p_value = mcnemar(a.columns[0], b.columns[0], cluster)
        return f"exact McNemar{suffix}", p_value, detectable_rate(moved, int(a.among.sum()), alpha)
    if contrast.metric == "roc_auc":
        among = contrast.among
        scores = [side.score[among] for side in contrast.answers]
        _, error, p = delong(scores[0], scores[1], contrast.faulty[among], cluster[among])
        return f"DeLong{suffix}", p, detectable(error, alpha)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MOSTLY_DEFINED * len(drawn) or no_spread(defined):
        return "paired bootstrap", None, None
    return "paired bootstrap", inverted(defined), detectable(float(defined.std(ddof=1)), alpha)
