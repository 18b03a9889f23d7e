"""Which kind of fault does a detector find better than others do? Interaction contrasts of detector and fault type.

A type can be easy for everyone and a detector good at everything; neither says that the detector is made for the type.
The contrast takes both out: how much higher a detector's area is on the types that a theory gives it than on the rest,
less the same difference averaged over the detectors it is compared with. Zero means that its profile is theirs.

Areas are of the faulty runs of one type (and one stratum) against all clean runs, averaged over seeds where there are
several: what is resampled is runs, so an interval speaks of new runs and not of new trainings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from trajaudit.analysis.curves import ranking
from trajaudit.analysis.differences import inverted
from trajaudit.analysis.intervals import percentile
from trajaudit.analysis.paired import detectable, holm
from trajaudit.analysis.resampling import design, replicates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import FloatArray, Statistic, divide, rate
from trajaudit.analysis.table import Answers, Items

STRATA = ("all", "silent", "loud")
FEWEST = 5
"""Faulty runs below which a cell has no area."""


@dataclass(frozen=True)
class Profile:
    """What one detector does on the faults of one type and stratum: area, step named right, F1 of naming the type."""

    detector: str
    type: str
    stratum: str
    auc: Estimate
    step: Estimate
    type_f1: Estimate


@dataclass(frozen=True)
class Contrast:
    """A detector's interaction with the types predicted for it, against others; ``p_holm`` is over its family."""

    detector: str
    types: tuple[str, ...]
    against: tuple[str, ...]
    stratum: str
    difference: Estimate
    p_value: float | None
    p_holm: float | None = None
    mde: float | None = None


@dataclass(frozen=True)
class Areas:
    """Areas by (detector, type, stratum): the value and replicates [R] of its mean over seeds."""

    types: tuple[str, ...]
    value: Mapping[tuple[str, str, str], float]
    drawn: Mapping[tuple[str, str, str], FloatArray]
    counted: Mapping[tuple[str, str], int]


def areas(items: Items, by_seed: Mapping[str, Sequence[Answers]], resamples: int, seed: int = 0) -> Areas:
    """Return the areas of each detector, on each type in each of `STRATA`, with paired replicates.

    Args:
        by_seed: for each detector its answers on ``items``, one a seed.
    """
    at = {(kind, stratum): _cell(items, kind, stratum) for kind in items.types for stratum in STRATA}
    counted = {cell: int((mask & items.faulty).sum()) for cell, mask in at.items()}
    kept = {cell: mask for cell, mask in at.items() if counted[cell] >= FEWEST}
    keys, found = list[tuple[str, str, str]](), list[Statistic]()
    for detector, seeds in by_seed.items():
        for cell, mask in kept.items():
            keys += [(detector, *cell)] * len(seeds)
            found += [ranking(one.score, items.faulty, mask & one.counted)["roc_auc"] for one in seeds]
    drawn = replicates(design(items), found, resamples, seed)
    rows: dict[tuple[str, str, str], list[int]] = {}
    for i, key in enumerate(keys):
        rows.setdefault(key, []).append(i)
    values = {key: float(np.mean([found[i].value for i in own])) for key, own in rows.items()}
    return Areas(items.types, values, {key: drawn[own].mean(axis=0) for key, own in rows.items()}, counted)


def profiles(
    items: Items, by_seed: Mapping[str, Sequence[Answers]], found: Areas, resamples: int, seed: int, level: float
) -> list[Profile]:
    """Return every detector's profile; localisation and typing are means over seeds, flagged or not.

    A detector names its most suspicious step and its likeliest type of every run, so both are asked of all faulty runs
    of the cell; whether the run was flagged is the area's question.
    """
    plan, rows = design(items), list[Profile]()
    for detector, seeds in by_seed.items():
        for kind in items.types:
            for stratum in STRATA:
                faulty = _cell(items, kind, stratum) & items.faulty
                among = _stratum(items, stratum) & items.faulty
                step = [rate(one.step == items.step, faulty & one.counted, "no such fault") for one in seeds]
                named = [_type_f1(items, one, kind, among & one.counted) for one in seeds]
                drawn = replicates(plan, [*step, *named], resamples, seed)
                size, count = len(seeds), int(faulty.sum())
                rows.append(
                    Profile(
                        detector,
                        kind,
                        stratum,
                        _area(found, (detector, kind, stratum), level),
                        _mean(step, drawn[:size], count, level),
                        _mean(named, drawn[size:], count, level),
                    )
                )
    return rows


def contrasts(
    found: Areas, predicted: Mapping[str, Sequence[str]], stratum: str, level: float, placebo: Sequence[str] = ()
) -> list[Contrast]:
    """Return each detector's contrast on the types predicted for it, Holm over them.

    Args:
        predicted: for each detector the fault types that it should be best at; the others of these are its rivals.
        placebo: detectors without a theory: each takes every prediction in turn against all of ``predicted``, outside
            the family, to show what a contrast is worth that means nothing.

    Raises:
        ValueError: a prediction names all types or none, or there is nothing to compare with.
    """
    rows = []
    for detector, types in predicted.items():
        others = tuple(other for other in predicted if other != detector)
        rows.append(_contrast(found, detector, tuple(types), others, stratum, level))
    adjusted = holm([row.p_value for row in rows])
    alpha = (1 - level) / max(1, len(rows))
    told = [replace(row, p_holm=p, mde=_detectable(row, alpha, level)) for row, p in zip(rows, adjusted, strict=True)]
    rivals = tuple(predicted)
    return told + [
        _contrast(found, detector, tuple(types), rivals, stratum, level)
        for detector in placebo
        for types in predicted.values()
    ]


def _contrast(
    found: Areas, detector: str, types: tuple[str, ...], against: tuple[str, ...], stratum: str, level: float
) -> Contrast:
    rest = tuple(kind for kind in found.types if kind not in types)
    if not rest or not set(types) <= set(found.types) or not against:
        known = ", ".join(found.types)
        raise ValueError(f"{detector}: expected some but not all of {known}, and a rival; got {', '.join(types)}")
    cells = [(one, kind, stratum) for one in (detector, *against) for kind in found.types]
    if missing := next((cell for cell in cells if cell not in found.value), None):
        why = f"fewer than {FEWEST} {'' if stratum == 'all' else stratum + ' '}{missing[1]} faults"
        return Contrast(detector, types, against, stratum, Estimate(None, n=0, reason=why, level=level), None)

    def profile(one: str, of: Mapping[tuple[str, str, str], FloatArray]) -> FloatArray:
        own, others = ([of[one, kind, stratum] for kind in kinds] for kinds in (types, rest))
        return np.asarray(np.mean(own, axis=0) - np.mean(others, axis=0))

    values = {key: np.asarray(value) for key, value in found.value.items()}
    value = float(profile(detector, values) - np.mean([profile(one, values) for one in against], axis=0))
    drawn = profile(detector, found.drawn) - np.mean([profile(one, found.drawn) for one in against], axis=0)
    defined = drawn[~np.isnan(drawn)]
    n = sum(found.counted[kind, stratum] for kind in found.types)
    difference = Estimate(value, *percentile(defined, level), n, "percentile", level=level)
    return Contrast(detector, types, against, stratum, difference, inverted(defined))


def _detectable(row: Contrast, alpha: float, level: float) -> float | None:
    """Return the smallest contrast found with 80 % power, from the width of its interval."""
    if row.difference.low is None or row.difference.high is None:
        return None
    error = (row.difference.high - row.difference.low) / (2 * norm.ppf((1 + level) / 2))
    return detectable(float(error), alpha)


def _stratum(items: Items, stratum: str) -> np.ndarray:
    return np.ones(len(items.ids), dtype=np.bool_) if stratum == "all" else items.stratum == stratum


def _cell(items: Items, kind: str, stratum: str) -> np.ndarray:
    """Return the faulty runs of a type and stratum, and all clean ones, [n]."""
    return ~items.faulty | ((items.type == kind) & _stratum(items, stratum))


def _type_f1(items: Items, one: Answers, kind: str, among: np.ndarray) -> Statistic:
    gold, said = among & (items.type == kind), among & (one.type == kind)

    def f1(sums: FloatArray) -> FloatArray:
        return divide(2 * sums[..., 0], sums[..., 1] + sums[..., 2])

    return Statistic((gold & said, gold, said), f1, gold | said, "the type is neither there nor named")


def _area(found: Areas, key: tuple[str, str, str], level: float) -> Estimate:
    count = found.counted[key[1:]]
    if key not in found.value:
        return Estimate(None, n=count, reason=f"fewer than {FEWEST} faults", level=level)
    drawn = found.drawn[key]
    return Estimate(found.value[key], *percentile(drawn[~np.isnan(drawn)], level), count, "percentile", level=level)


def _mean(of: Sequence[Statistic], drawn: FloatArray, n: int, level: float) -> Estimate:
    """Return the mean over seeds with the percentile interval of its replicates, [seeds, R]."""
    values = [one.value for one in of if one.value is not None]
    if len(values) < len(of):
        return Estimate(None, n=n, reason=of[0].reason, level=level)
    together = drawn.mean(axis=0)
    defined = together[~np.isnan(together)]
    if not len(defined):
        return Estimate(float(np.mean(values)), n=n, reason="no interval: undefined in every resample", level=level)
    return Estimate(float(np.mean(values)), *percentile(defined, level), n, "percentile", level=level)
