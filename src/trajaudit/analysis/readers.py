"""How far readers of the same trajectories agree, people and judges alike: on presence, on each type, on the place.

A pair is compared over what *both* gave an opinion on, which is stated as ``n``: a judge whose replies did not parse is
not counted as disagreeing. Types are compared over all of these (a type that neither names is agreed on), overlaps of
type sets and of places only where both see a fault, and places only where both name a step: "where" has no meaning for
one who sees nothing. A judge names one step at most, so ``shares_step`` asks for a step in common and not for the same
set. Kappa stands beside the four counts that it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from trajaudit.analysis.agreement import clustered, cohen_kappa, jaccard
from trajaudit.analysis.intervals import RESAMPLES, estimates
from trajaudit.analysis.krippendorff import MISSING, counts_of, jaccard_distance, krippendorff_alpha
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import BoolArray, IntArray, Statistic, rate
from trajaudit.verdict import Verdict

PRESENCE = "presence"
TYPE_SETS = "type sets"


@dataclass(frozen=True, eq=False)
class Reader:
    """What one reader said of n trajectories.

    Attributes:
        given: [n], where there is an opinion. faulty: [n]. types: [n, T]. steps: of each trajectory, the steps named.
    """

    name: str
    given: BoolArray
    faulty: BoolArray
    types: BoolArray
    steps: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Overlap:
    """How often both, only the one, only the other and neither of two readers say it, and kappa."""

    both: int
    a_only: int
    b_only: int
    neither: int
    kappa: Estimate


@dataclass(frozen=True)
class PairAgreement:
    """Two readers: ``presence`` and each type as an overlap; how far their type sets and places overlap."""

    a: str
    b: str
    n: int
    presence: Overlap
    types: Mapping[str, Overlap]
    agreement: Estimate
    same_types: Estimate
    type_jaccard: Estimate
    shares_step: Estimate


@dataclass(frozen=True)
class Intervals:
    """How intervals are made; see ``trajaudit.analysis.intervals.estimates``."""

    resamples: int = RESAMPLES
    seed: int = 0
    level: float = 0.95
    method: str = "percentile"


def reader(name: str, verdicts: Sequence[Verdict], ids: Sequence[str], types: Sequence[str]) -> Reader:
    """Return one auditor's verdicts in the order of ``ids``; every step in its evidence counts as named."""
    own = {verdict.trajectory_id: verdict for verdict in verdicts if verdict.ok}
    rows = [own.get(run) for run in ids]
    return Reader(
        name,
        np.array([row is not None for row in rows]),
        np.array([bool(row is not None and row.faulty) for row in rows]),
        np.array([[row is not None and kind in row.types for kind in types] for row in rows]).reshape(
            len(ids), len(types)
        ),
        tuple(frozenset() if row is None else _steps(row) for row in rows),
    )


def _steps(verdict: Verdict) -> frozenset[int]:
    named = {item.step for item in verdict.evidence} | {verdict.step}
    return frozenset(step for step in named if step is not None)


def pair_agreement(
    a: Reader, b: Reader, groups: Sequence[str], types: Sequence[str], intervals: Intervals | None = None
) -> PairAgreement:
    """Return how far two readers agree, every number with an interval that resamples ``groups``."""
    told = intervals or Intervals()
    both = a.given & b.given
    flagged = both & a.faulty & b.faulty
    placed = flagged & np.array([bool(x) and bool(y) for x, y in zip(a.steps, b.steps, strict=True)])
    shared = np.array([bool(x & y) for x, y in zip(a.steps, b.steps, strict=True)])
    wanted: list[Statistic] = [
        cohen_kappa(a.faulty, b.faulty, both),
        rate(a.faulty == b.faulty, both, "no trajectory was read by both"),
        rate((a.types == b.types).all(axis=1), flagged, "no trajectory was flagged by both"),
        jaccard(a.types, b.types, flagged),
        rate(shared, placed, "no trajectory was flagged with a step by both"),
        *(cohen_kappa(a.types[:, t], b.types[:, t], both) for t in range(len(types))),
    ]
    ready = estimates(clustered(groups), wanted, told.resamples, told.seed, told.level, told.method)
    kappas = dict(zip(types, ready[5:], strict=True))
    return PairAgreement(
        a.name,
        b.name,
        int(both.sum()),
        _overlap(a.faulty, b.faulty, both, ready[0]),
        {kind: _overlap(a.types[:, t], b.types[:, t], both, kappas[kind]) for t, kind in enumerate(types)},
        *ready[1:5],
    )


def _overlap(a: BoolArray, b: BoolArray, among: BoolArray, kappa: Estimate) -> Overlap:
    cells = (a & b, a & ~b, ~a & b, ~a & ~b)
    both, a_only, b_only, neither = (int((cell & among).sum()) for cell in cells)
    return Overlap(both, a_only, b_only, neither, kappa)


def all_pairs(
    readers: Sequence[Reader], groups: Sequence[str], types: Sequence[str], intervals: Intervals | None = None
) -> list[PairAgreement]:
    """Return the agreement of every pair of readers, in order."""
    return [pair_agreement(a, b, groups, types, intervals) for a, b in combinations(readers, 2)]


def alphas(
    readers: Sequence[Reader], groups: Sequence[str], types: Sequence[str], intervals: Intervals | None = None
) -> dict[str, Estimate]:
    """Return Krippendorff's alpha of all readers together: on presence, on each type, and on whole sets of types."""
    told = intervals or Intervals()
    named = {PRESENCE: [one.faulty for one in readers]}
    named |= {kind: [one.types[:, t] for one in readers] for t, kind in enumerate(types)}
    wanted = [krippendorff_alpha(counts_of(_values(readers, columns), 2)) for columns in named.values()]
    sets, values = _as_sets(readers, types)
    wanted.append(krippendorff_alpha(counts_of(values, len(sets)), jaccard_distance(sets)))
    ready = estimates(clustered(groups), wanted, told.resamples, told.seed, told.level, told.method)
    return dict(zip([*named, TYPE_SETS], ready, strict=True))


def _values(readers: Sequence[Reader], columns: Sequence[np.ndarray]) -> IntArray:
    rows = [np.where(one.given, column, MISSING) for one, column in zip(readers, columns, strict=True)]
    return np.stack(rows).astype(np.int64)


def _as_sets(readers: Sequence[Reader], types: Sequence[str]) -> tuple[list[frozenset[str]], IntArray]:
    """Return the distinct sets of types that were named, and which of them each reader gave each trajectory."""
    said = [
        [
            frozenset(kind for t, kind in enumerate(types) if row[t]) if given else None
            for row, given in zip(one.types, one.given, strict=True)
        ]
        for one in readers
    ]
    sets = sorted({named for row in said for named in row if named is not None}, key=sorted) or [frozenset()]
    number = {named: i for i, named in enumerate(sets)}
    return sets, np.array(
        [[MISSING if named is None else number[named] for named in row] for row in said], dtype=np.int64
    )
