"""Does the wording of the prompt move the verdict? Flips, shifts and agreement between variants of one judge.

No label is needed: a judge that changes its mind with the order of its definitions is unreliable whichever answer was
right. Three choices change the numbers. Every comparison is over the runs that *both* variants answered, and how many
that are stands beside it, since a variant that fails on hard runs would otherwise look stable. Everything is paired and
resampled by group. And two things are kept apart: *flips* count every change of mind, *shifts* only what does not
cancel, so a variant can flip a third of the verdicts and shift the rate of flags not at all. A shift is tested (exact
McNemar, by cluster), with Holm over all shifts of all variants; a flip rate needs no test against zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from trajaudit.analysis.agreement import clustered, cohen_kappa, jaccard
from trajaudit.analysis.differences import Resampling
from trajaudit.analysis.intervals import RESAMPLES
from trajaudit.analysis.paired import holm, mcnemar
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import BoolArray, rate
from trajaudit.analysis.table import ordered_types
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict, by_auditor

FLAG = "faulty"
NEITHER = "no run was answered under both"


@dataclass(frozen=True, eq=False)
class Opinions:
    """What one auditor said of n trajectories.

    Attributes:
        answered, flagged: [n]. named: [n, types], the types that it names; nothing where it did not answer.
    """

    answered: BoolArray
    flagged: BoolArray
    named: BoolArray


@dataclass(frozen=True)
class Flips:
    """How often a variant's verdict differs from the default's: overall, and each way among those that could go it."""

    variant: str
    rate: Estimate
    to_faulty: Estimate
    to_clean: Estimate


@dataclass(frozen=True)
class Shift:
    """By how much a variant flags, or names a type, more often than the default; ``what`` is the type, or `FLAG`."""

    variant: str
    what: str
    default: Estimate
    difference: Estimate
    p_value: float | None
    p_holm: float | None = None


@dataclass(frozen=True)
class Agreement:
    """How far two variants agree: kappa of flags, mean overlap of the sets of types where both flag."""

    a: str
    b: str
    n: int
    kappa: Estimate
    jaccard: Estimate


@dataclass(frozen=True)
class Stability:
    """Everything that is said of the variants of one judge."""

    default: str
    flips: tuple[Flips, ...]
    shifts: tuple[Shift, ...]
    agreements: tuple[Agreement, ...]


def opinions(
    trajectories: Sequence[Trajectory], verdicts: Iterable[Verdict]
) -> tuple[tuple[str, ...], dict[str, Opinions]]:
    """Return the types that anybody names, and what each auditor said of the trajectories, in their order."""
    of = {name: {verdict.trajectory_id: verdict for verdict in own} for name, own in by_auditor(verdicts).items()}
    every = [kind for own in of.values() for verdict in own.values() for kind in verdict.types]
    types = ordered_types(np.array(every, dtype=np.str_))
    return types, {name: _opinions(trajectories, own, types) for name, own in of.items()}


def _opinions(trajectories: Sequence[Trajectory], own: Mapping[str, Verdict], types: Sequence[str]) -> Opinions:
    rows = [own.get(trajectory.id) for trajectory in trajectories]
    ok = [row if row is not None and row.ok else None for row in rows]
    return Opinions(
        np.array([row is not None for row in ok], dtype=np.bool_),
        np.array([row is not None and bool(row.faulty) for row in ok], dtype=np.bool_),
        np.array([row is not None and kind in row.types for row in ok for kind in types], dtype=np.bool_).reshape(
            len(ok), len(types)
        ),
    )


def stability(
    groups: Sequence[str],
    said: Mapping[str, Opinions],
    default: str,
    types: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> Stability:
    """Compare variants of one judge over the same trajectories.

    Args:
        groups: the resampling unit of each trajectory [n].
        said: the opinions of each variant.
        default: the variant that flips and shifts are counted from.
        types: what the columns of ``Opinions.named`` stand for.

    Raises:
        ValueError: the default has no opinions, or there is nothing to compare it with.
    """
    if default not in said or len(said) < 2:
        raise ValueError(f"default: expected one of at least two variants, got {default!r} and {', '.join(said)}")
    how = Resampling(clustered(groups), resamples, seed, level, method)
    others = [name for name in said if name != default]
    shifts = [shift for name in others for shift in _shifts(how, said[default], name, said[name], types)]
    adjusted = holm([shift.p_value for shift in shifts])
    return Stability(
        default,
        tuple(_flips(how, said[default], name, said[name]) for name in others),
        tuple(replace(shift, p_holm=p) for shift, p in zip(shifts, adjusted, strict=True)),
        tuple(_agreement(how, (a, b), (said[a], said[b])) for a, b in combinations(said, 2)),
    )


def _flips(how: Resampling, before: Opinions, name: str, after: Opinions) -> Flips:
    both = before.answered & after.answered
    wanted = [
        rate(before.flagged != after.flagged, both, NEITHER),
        rate(after.flagged, both & ~before.flagged, "the default calls no run clean that both answered"),
        rate(~after.flagged, both & before.flagged, "the default flags no run that both answered"),
    ]
    return Flips(name, *how.estimates(wanted))


def _shifts(how: Resampling, before: Opinions, name: str, after: Opinions, types: Sequence[str]) -> list[Shift]:
    both = before.answered & after.answered
    columns = {FLAG: (before.flagged, after.flagged)}
    columns |= {kind: (before.named[:, i], after.named[:, i]) for i, kind in enumerate(types)}
    return [Shift(name, what, *shifted(how, *pair, both, NEITHER)) for what, pair in columns.items()]


def shifted(
    how: Resampling, before: BoolArray, after: BoolArray, among: BoolArray, reason: str
) -> tuple[Estimate, Estimate, float | None]:
    """Return the rate of hits [n] in ``among`` before, how much it differs after, and the p value of the difference.

    The p value is exact McNemar's by cluster; null where nothing moved, for there is then nothing to test.
    """
    new, old = rate(after, among, reason), rate(before, among, reason)
    (base,) = how.estimates([old])
    moved = bool(((before != after) & among).any())
    p_value = mcnemar(after & among, before & among, how.plan.cluster) if moved else None
    return base, how.difference(new, old), p_value


def _agreement(how: Resampling, names: tuple[str, str], sides: tuple[Opinions, Opinions]) -> Agreement:
    a, b = sides
    both = a.answered & b.answered
    overlap = jaccard(a.named, b.named, both & a.flagged & b.flagged)
    wanted = [cohen_kappa(a.flagged, b.flagged, both), replace(overlap, reason="no run was flagged by both")]
    return Agreement(*names, int(both.sum()), *how.estimates(wanted))
