"""How well a yes-or-no flag on a run tells whether the run hallucinates: rates, phi, AUC, and whether two flags differ.

The score of a flag is its absence, so an AUC above one half and a phi below zero say that its presence is a good sign;
with two values the AUC is the mean of the two rates "absent among the hallucinating" and "present among the clean",
which does not move with the share of hallucinating runs as phi does. Runs of one scenario share question and tools, so
intervals and tests take the scenario as the cluster; with thirty clusters both are still a little too sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau

from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.differences import paired_difference
from trajaudit.analysis.intervals import MOSTLY_DEFINED, RESAMPLES, estimates, percentile
from trajaudit.analysis.paired import delong, detectable, holm
from trajaudit.analysis.resampling import Design, replicates
from trajaudit.analysis.result import Comparison, Estimate
from trajaudit.analysis.statistic import BoolArray, FloatArray, Statistic, divide, rate

MEASURES = ("rate_present", "rate_absent", "difference", "phi", "auc")


@dataclass(frozen=True, eq=False)
class FlaggedRuns:
    """Labelled runs with their flags.

    Attributes:
        flags: the names of the flags.
        present: [n, flags]. faulty: [n]. groups: the cluster of each run [n].
    """

    flags: tuple[str, ...]
    present: BoolArray
    faulty: BoolArray
    groups: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.faulty)
        if self.present.shape != (n, len(self.flags)) or len(self.groups) != n:
            shapes = f"{self.present.shape}, {self.faulty.shape}, {len(self.groups)}"
            raise ValueError(f"flags: expected [n, {len(self.flags)}] flags and n labels and groups, got {shapes}")

    @property
    def design(self) -> Design:
        return clustered(self.groups)


def _gap(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 0], sums[..., 1]) - divide(sums[..., 2], sums[..., 3])


def _halved(sums: FloatArray) -> FloatArray:
    return (divide(sums[..., 0], sums[..., 1]) + divide(sums[..., 2], sums[..., 3])) / 2


def _phi(sums: FloatArray) -> FloatArray:
    """Return the correlation of two binary columns from the sums of both, a, b and the count."""
    both, a, b, n = (sums[..., i] for i in range(4))
    return divide(n * both - a * b, np.sqrt(a * (n - a) * b * (n - b)))


def auc_of(present: BoolArray, faulty: BoolArray) -> Statistic:
    """Return the ROC area of a flag's absence [n]."""
    columns = (~present & faulty, faulty, present & ~faulty, ~faulty)
    return Statistic(columns, _halved, np.ones_like(faulty), "only one class among the labels")


def _statistics(present: BoolArray, faulty: BoolArray) -> dict[str, Statistic]:
    absent, everyone = ~present, np.ones_like(faulty)
    one_side = "the flag is present, or absent, in every run"
    return {
        "rate_present": rate(faulty, present, "the flag is present in no run"),
        "rate_absent": rate(faulty, absent, "the flag is absent in no run"),
        "difference": Statistic(
            (faulty & absent, absent, faulty & present, present), _gap, everyone, one_side, unit=False
        ),
        "phi": Statistic(
            (present & faulty, present, faulty, everyone), _phi, everyone, f"{one_side}, or the label is", unit=False
        ),
        "auc": auc_of(present, faulty),
    }


def measure(
    runs: FlaggedRuns, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> dict[str, dict[str, Estimate]]:
    """Return ``MEASURES`` of each flag; ``difference`` is the rate where absent less the rate where present."""
    made = {name: _statistics(column, runs.faulty) for name, column in zip(runs.flags, runs.present.T, strict=True)}
    ready = iter(
        estimates(runs.design, [s for of_flag in made.values() for s in of_flag.values()], resamples, seed, level)
    )
    return {name: {key: next(ready) for key in of_flag} for name, of_flag in made.items()}


def both_absent(
    runs: FlaggedRuns, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> dict[tuple[str, str], Estimate]:
    """Return the rate of hallucination where both flags of a pair are absent, for every pair."""
    absent = dict(zip(runs.flags, ~runs.present.T, strict=True))
    pairs = list(combinations(runs.flags, 2))
    made = [rate(runs.faulty, absent[a] & absent[b], "one of the two is present in every run") for a, b in pairs]
    return dict(zip(pairs, estimates(runs.design, made, resamples, seed, level), strict=True))


def told_alone(
    runs: FlaggedRuns, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> dict[str, Estimate]:
    """Return the share of the faulty runs that lack one flag and no other: what would go unnoticed without it.

    Defined where a model is not: flags that are absent from faulty runs only separate the classes.
    """
    absent = ~runs.present
    made = [rate(column & (absent.sum(axis=1) == 1), runs.faulty, "no faulty run") for column in absent.T]
    return dict(zip(runs.flags, estimates(runs.design, made, resamples, seed, level), strict=True))


def unmarked(
    runs: FlaggedRuns, among: BoolArray, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Return the share of the runs in ``among`` [n] that lack no flag at all: what no flag can tell."""
    whole: BoolArray = np.asarray(runs.present.all(axis=1))
    (found,) = estimates(runs.design, [rate(whole, among, "no such run")], resamples, seed, level)
    return found


def lost(
    runs: FlaggedRuns, among: BoolArray, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> dict[str, Estimate]:
    """Return, for each flag, the share of the runs in ``among`` [n] that lack it."""
    made = [rate(~column, among, "no such run") for column in runs.present.T]
    return dict(zip(runs.flags, estimates(runs.design, made, resamples, seed, level), strict=True))


def compare_areas(
    runs: FlaggedRuns, family: str, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> list[Comparison]:
    """Compare the AUCs of every pair of flags on the same runs: DeLong by cluster, Holm over the pairs.

    The interval of a difference is from resampled clusters; the test is null where two flags never differ, or there is
    one cluster only.
    """
    pairs = list(combinations(range(len(runs.flags)), 2))
    plan = runs.design
    areas = [auc_of(column, runs.faulty) for column in runs.present.T]
    drawn = replicates(plan, areas, resamples, seed)
    alpha = (1 - level) / max(1, len(pairs))
    rows = [_compared(runs, plan, areas, drawn, pair, level, alpha) for pair in pairs]
    return [
        replace(row, p_holm=p, family=family) for row, p in zip(rows, holm([row.p_value for row in rows]), strict=True)
    ]


def _compared(
    runs: FlaggedRuns,
    plan: Design,
    areas: Sequence[Statistic],
    drawn: FloatArray,
    pair: tuple[int, int],
    level: float,
    alpha: float,
) -> Comparison:
    i, j = pair
    names = runs.flags[i], runs.flags[j]
    if areas[i].value is None:  # the labels are of one class, for every flag
        nothing = Estimate(None, n=len(runs.faulty), reason=areas[i].reason, level=level)
        return Comparison("auc", *names, nothing, "", None, reason=areas[i].reason)
    absent = (~runs.present).astype(np.float64)
    _, error, p_value = delong(absent[:, i], absent[:, j], runs.faulty, plan.cluster)
    difference = paired_difference(areas[i], areas[j], plan, drawn[i] - drawn[j], level)
    untested = "all runs are of one group" if plan.clusters < 2 else "the two flags never differ"
    reason = None if p_value is not None else f"no test: {untested}"
    return Comparison(
        "auc", *names, difference, "DeLong by cluster", p_value, mde=detectable(error, alpha), reason=reason
    )


@dataclass(frozen=True)
class RankAgreement:
    """How far two orders of the same flags agree.

    ``tau`` is Kendall's tau-b, with the interval from resampled clusters; ``p_value`` has no relation as its null and
    is exact over all orders, but where values tie; ``same_order`` is the share of resamples in which every two flags
    stand to each other as in theirs.
    """

    tau: Estimate
    p_value: float | None
    same_order: float | None


def rank_agreement(
    runs: FlaggedRuns, theirs: Sequence[float], resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> RankAgreement:
    """Compare the order of the flags by AUC with another order of them, given by ``theirs`` (one value a flag)."""
    areas = [auc_of(column, runs.faulty) for column in runs.present.T]
    values = [area.value for area in areas]
    if None in values or min(len(set(values)), len(set(theirs))) < 2:
        reason = "an AUC is undefined, or all are equal: there is no order"
        return RankAgreement(Estimate(None, n=len(theirs), reason=reason, level=level), None, None)
    tau, p_value = kendalltau(values, theirs)
    drawn = replicates(runs.design, areas, resamples, seed)
    first, second = np.triu_indices(len(theirs), 1)
    ours, expected = np.sign(drawn[first] - drawn[second]), np.sign(np.subtract.outer(theirs, theirs)[first, second])
    # Tau-b of every resample: concordant less discordant pairs, over the pairs that neither side ties.
    taus = divide(expected @ ours, np.sqrt(np.square(ours).sum(axis=0) * np.square(expected).sum()))
    known = ours[:, ~np.isnan(drawn).any(axis=0)]
    same_order = float(np.mean((known == expected[:, None]).all(axis=0))) if known.size else None
    taus = taus[~np.isnan(taus)]
    if len(taus) < MOSTLY_DEFINED * resamples:
        nothing = "no interval: there is no order in too many resamples"
        return RankAgreement(
            Estimate(float(tau), n=len(theirs), reason=nothing, level=level), float(p_value), same_order
        )
    estimate = Estimate(float(tau), *percentile(taus, level), len(theirs), "percentile", level=level)
    return RankAgreement(estimate, float(p_value), same_order)
