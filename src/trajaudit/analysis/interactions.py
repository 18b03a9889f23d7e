"""Which kind of fault does an auditor find better than others do? Areas by fault type, and interaction contrasts.

A type can be easy for everyone, and an auditor good at everything; neither says that it is made for the type. The
contrast takes both out: an auditor's mean area on the types that a theory gives it less that on the others, less the
same of its rivals. It is zero where its profile over types is theirs, whatever their levels.

An area is of the faulty runs of one type and stratum against *all* clean runs, so cells share their clean runs and
differ in nothing but the faults. Localisation is asked of every faulty run of a cell, flagged or not: whether a run is
flagged depends on a threshold, and the area has spoken of that already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from trajaudit.analysis.combinations import Weights, added, mean_of, scaled
from trajaudit.analysis.curves import ranking
from trajaudit.analysis.statistic import BoolArray, FloatArray, Statistic, divide, rate, undefined
from trajaudit.analysis.table import Answers, Items

STRATA = ("all", "silent", "loud")
MEASURES = ("auc", "step_exact", "step_within_one", "type_f1")
ANY = "any type"


def cell(items: Items, kind: str, stratum: str) -> BoolArray:
    """Return the faulty runs of a type (or of `ANY`) and a stratum (or of all), [n]."""
    of_type = items.faulty if kind == ANY else items.faulty & (items.type == kind)
    return of_type if stratum == "all" else of_type & (items.stratum == stratum)


def measured(items: Items, answers: Answers, kind: str, stratum: str) -> dict[str, Statistic]:
    """Return the statistics of `MEASURES` of one auditor in one cell.

    The step is the one that ``answers`` names, and naming none is a miss. A type's F1 is over the faulty runs of the
    stratum, a run that was not flagged naming no type; of `ANY` it is the share of them whose type is named right.
    """
    faulty = cell(items, kind, stratum) & answers.counted
    located = faulty & (items.step >= 0)
    named = answers.step >= 0
    what = f"no {'' if stratum == 'all' else stratum + ' '}fault of {kind}"
    return {
        "auc": _area(items, answers, faulty, what),
        "step_exact": rate(named & (answers.step == items.step), located, what),
        "step_within_one": rate(named & (np.abs(answers.step - items.step) <= 1), located, what),
        "type_f1": _type_f1(items, answers, kind, cell(items, ANY, stratum) & answers.counted, what),
    }


def _area(items: Items, answers: Answers, faulty: BoolArray, what: str) -> Statistic:
    among = faulty | (~items.faulty & answers.counted)
    if not faulty.any() or not (among & ~items.faulty).any():
        return undefined(len(among), what if not faulty.any() else "no clean run")
    if np.isnan(answers.score[among]).any():
        return undefined(len(among), "a verdict states neither score nor confidence")
    return ranking(answers.score, items.faulty, among)["roc_auc"]


def _type_f1(items: Items, answers: Answers, kind: str, among: BoolArray, what: str) -> Statistic:
    named = np.where(answers.flagged, answers.type, "")
    typed = among & (items.type != "")
    if kind == ANY:
        return rate(named == items.type, typed, what)
    gold, said = typed & (items.type == kind), typed & (named == kind)
    if not gold.any():
        return undefined(len(among), what)
    return Statistic((gold & said, gold, said), _f1, gold | said, what)


def _f1(sums: FloatArray) -> FloatArray:
    return divide(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def profile(cells: Mapping[str, Sequence[str]], types: Sequence[str]) -> dict[str, float]:
    """Return the weights of "better on ``types`` than on the others".

    Args:
        cells: of one auditor, for each type the names of its areas (one a training).

    >>> profile({"x": ["a/x"], "y": ["a/y"], "z": ["a/z"]}, ["x"])
    {'a/x': 1.0, 'a/y': -0.5, 'a/z': -0.5}

    Raises:
        ValueError: ``types`` are none, or all that there are, or unknown.
    """
    rest = [kind for kind in cells if kind not in types]
    if not rest or not types or set(types) - set(cells):
        raise ValueError(f"types: expected some of {', '.join(cells)}, but not all, got {', '.join(types) or 'none'}")
    sides = [added(*(scaled(mean_of(cells[kind]), 1 / len(kinds)) for kind in kinds)) for kinds in (types, rest)]
    return added(sides[0], scaled(sides[1], -1))


def interaction(
    own: Mapping[str, Sequence[str]], rivals: Sequence[Mapping[str, Sequence[str]]], types: Sequence[str]
) -> Weights:
    """Return the weights of an interaction contrast: the profile of one auditor less the mean one of its rivals.

    >>> a, b = ({kind: [f"{name}/{kind}"] for kind in "xy"} for name in "ab")
    >>> interaction(a, [b], ["x"])
    {'a/x': 1.0, 'a/y': -1.0, 'b/x': -1.0, 'b/y': 1.0}

    Raises:
        ValueError: there is no rival; or as `profile`.
    """
    if not rivals:
        raise ValueError("rivals: expected at least one auditor to compare with, got none")
    theirs = added(*(scaled(profile(one, types), 1 / len(rivals)) for one in rivals))
    return added(profile(own, types), scaled(theirs, -1))


def cells_of(items: Items) -> Iterator[tuple[str, str]]:
    """Yield every (type, stratum), each stratum's `ANY` last."""
    for stratum in STRATA:
        for kind in (*items.types, ANY):
            yield kind, stratum
