"""How well scores rank the runs of one group among themselves, and how little a small test can tell.

A pooled ROC area rewards knowing which *group* (scenario, question) is hard; within groups only the runs themselves
count. Groups differ in size, so "within" has three readings, which differ by up to 0.1 on real runs: ``runs`` weighs a
group's area by its runs (the primary one here: every run counts once), ``pairs`` by its pairs of a faulty and a clean
run (groups of both kinds in equal number dominate), ``groups`` counts every group once (tiny groups are loud). Groups
of one class have no area and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from trajaudit.analysis.comparison import inverted
from trajaudit.analysis.curves import Levels, roc_area
from trajaudit.analysis.intervals import percentile
from trajaudit.analysis.paired import detectable, holm
from trajaudit.analysis.resampling import design, replicates
from trajaudit.analysis.result import Comparison, Estimate
from trajaudit.analysis.statistic import BoolArray, FloatArray, Statistic, quotient, undefined
from trajaudit.analysis.table import Answers, Items

READINGS = ("runs", "pairs", "groups")
PRIMARY = "runs"


def area(score: FloatArray, faulty: BoolArray) -> float:
    """Return the ROC area of scores over runs of both classes; a tie counts one half."""
    levels = Levels.of(score, faulty, np.ones(len(score), dtype=np.bool_))
    return float(roc_area(*levels.totals))


def within_groups(items: Items, answers: Answers, reading: str = PRIMARY) -> Statistic:
    """Return the ROC area within groups as a statistic; a bootstrap over groups then draws whole groups.

    Raises:
        ValueError: for an unknown reading.
    """
    if reading not in READINGS:
        raise ValueError(f"reading: expected one of {', '.join(READINGS)}, got {reading!r}")
    codes = np.unique(np.array(items.groups), return_inverse=True)[1]
    weight, value = np.zeros(len(codes)), np.zeros(len(codes))
    for code in range(codes.max(initial=-1) + 1):
        at = (codes == code) & answers.counted
        positive, n = int(items.faulty[at].sum()), int(at.sum())
        if 0 < positive < n:
            value[at] = area(answers.score[at], items.faulty[at])
            weight[at] = {"runs": n, "pairs": positive * (n - positive), "groups": 1}[reading] / n
    if not weight.any():
        return undefined(len(codes), "no group holds both faulty and clean runs")
    return Statistic((weight * value, weight), quotient, weight > 0)


def compare_within(
    items: Items,
    answers: Mapping[str, Answers],
    pairs: Iterable[tuple[str, str]],
    *,
    family: str,
    reading: str = PRIMARY,
    resamples: int,
    seed: int = 0,
    level: float = 0.95,
) -> list[Comparison]:
    """Compare pairs of auditors on the area within groups, by a bootstrap over groups that both share; Holm over all.

    Raises:
        ValueError: for an unknown reading.
    """
    pairs = list(pairs)
    sides = [within_groups(items, answers[name], reading) for pair in pairs for name in pair]
    drawn = replicates(design(items), sides, resamples, seed)
    alpha = (1 - level) / max(1, len(pairs))
    rows = []
    for i, (a, b) in enumerate(pairs):
        own, theirs = sides[2 * i], sides[2 * i + 1]
        moved = drawn[2 * i] - drawn[2 * i + 1]
        defined = moved[~np.isnan(moved)]
        value, n = float(own.reduce(own.sums) - theirs.reduce(theirs.sums)), int((own.among & theirs.among).sum())
        difference = Estimate(value, *percentile(defined, level), n, "percentile", level=level)
        mde = detectable(float(defined.std(ddof=1)), alpha)
        metric = f"AUC within {'groups' if reading == PRIMARY else reading}"
        rows.append(Comparison(metric, a, b, difference, "paired bootstrap", inverted(defined), mde=mde, family=family))
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def spread_at(
    score: FloatArray, faulty: BoolArray, n: int, draws: int = 2000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """Return between which areas a balanced test of ``n`` of these runs falls, with probability ``level``.

    Raises:
        ValueError: fewer than n / 2 runs of a class.
    """
    random = np.random.default_rng(seed)
    sizes = {True: (n + 1) // 2, False: n // 2}
    kinds = {kind: np.flatnonzero(faulty == kind) for kind in sizes}
    if any(len(kinds[kind]) < sizes[kind] for kind in sizes):
        raise ValueError(f"n: expected at most twice the rarer class, got {n}")
    areas = []
    for _ in range(draws):
        at = np.concatenate([random.choice(kinds[kind], sizes[kind], replace=False) for kind in sizes])
        areas.append(area(score[at], faulty[at]))
    return percentile(np.array(areas), level)
