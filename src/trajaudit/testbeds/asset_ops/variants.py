"""The ways to go wrong: for each fault type of Trajel two or more variants, with the questions that each can occur in.

An instance is drawn for its variants (``wish_for``): a family that they all fit and the habits and troubles that they
need. Nothing here edits a run; that is ``faults``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops.instances import FAMILIES, Unfit, Wish
from trajaudit.testbeds.draw import Draw

_WEEK = ("statistic", "trend", "limit")
_SERIES = ("anomalies", "forecast")
_CONCLUDING = ("trend", "limit", "comparison")


class Variant(NamedTuple):
    """One way to commit a fault: where it is possible, and what it needs of an instance."""

    name: str
    type: str
    families: tuple[str, ...]
    habits: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    purged: bool = False


def _variant(name: str, families: tuple[str, ...], needs: str = "", lacks: str = "", purged: bool = False) -> Variant:
    return Variant(name, name.partition(".")[0], families, frozenset(needs.split()), frozenset(lacks.split()), purged)


VARIANTS = (
    _variant(
        "factual.thought",
        (*_WEEK, *_SERIES, "inspection", "asset_list", "events", "bundling", "order", "no_asset", "sensor_list"),
        lacks="taciturn",
    ),
    _variant("factual.report", (*_WEEK, "comparison", *_SERIES, "inspection", "events", "asset_list", "sensor_list")),
    _variant("factual.summary", (*_WEEK, "comparison", *_SERIES, "inspection", "events", "order", "no_data")),
    _variant("factual.description", ("inspection",)),
    _variant(
        "referential.thought",
        (*_WEEK, *_SERIES, "inspection", "comparison", "failure_modes", "signs", "detectable", "order", "no_data"),
        lacks="taciturn",
    ),
    _variant("referential.report", tuple(f for f in FAMILIES if f not in ("no_asset", "no_service"))),
    _variant("referential.summary", tuple(f for f in FAMILIES if f not in ("no_asset", "no_service", "no_data"))),
    _variant("referential.file", (*_WEEK, *_SERIES, "inspection"), purged=True),
    _variant("referential.readback", _SERIES, "readback"),
    _variant("referential.sensor", ("signs", "detectable")),
    _variant("referential.model", ("forecast",), "taciturn", "readback"),
    _variant("logical.thought", ("limit",), lacks="taciturn"),
    _variant("logical.report", _CONCLUDING),
    _variant("logical.summary", _CONCLUDING),
    _variant("logical.decision", ("inspection",)),
    _variant("logical.selection", ("bundling",)),
    _variant("procedural.sensors", (*_WEEK, *_SERIES, "inspection", "no_data"), "taciturn"),
    _variant("procedural.models", ("forecast",), "names_model"),
    _variant("procedural.modes", ("signs",), "taciturn"),
    _variant("procedural.orders", ("order", "inspection"), "taciturn"),
    _variant("procedural.claimed", ("order", "inspection"), "taciturn checked"),
    _variant("procedural.late", ("order", "inspection"), "taciturn"),
    _variant("procedural.plan", _SERIES, "taciturn", "readback"),
    _variant("procedural.readback", _SERIES, lacks="readback"),
    _variant("procedural.stop", ("inspection", "order", *_SERIES, "signs", "detectable"), "taciturn"),
    _variant("scope.asset", (*_WEEK, *_SERIES, "inspection"), "assets"),
    _variant("scope.week", (*_WEEK, *_SERIES, "inspection")),
    _variant("scope.agent", FAMILIES),
    _variant("scope.advice", (*_WEEK, *_SERIES, "inspection", "failure_modes", "comparison")),
    _variant("scope.statistic", ("statistic",)),
)
_CHOOSY = ("logical", "procedural", "scope", "referential", "factual")
OF_TYPE = {name: tuple(v for v in VARIANTS if v.type == name) for name in TRAJEL.types}


def variants_for(types: tuple[str, ...], draw: Draw) -> tuple[Variant, ...]:
    """Draw a variant of each type such that some family fits them all; the choosiest type draws first.

    Raises:
        Unfit: where the variants drawn so far leave a later type none.
    """
    chosen: list[Variant] = []
    for name in sorted(types, key=_CHOOSY.index):
        fitting = [variant for variant in OF_TYPE[name] if _compatible([*chosen, variant])]
        if not fitting:
            raise Unfit
        chosen.append(draw.pick(fitting))
    return tuple(chosen)


def _compatible(chosen: list[Variant]) -> bool:
    return bool(_shared(chosen)) and not _wanted(chosen) & _lacking(chosen)


def _shared(chosen: Sequence[Variant]) -> list[str]:
    return [family for family in FAMILIES if all(family in variant.families for variant in chosen)]


def _wanted(chosen: Sequence[Variant]) -> frozenset[str]:
    return frozenset().union(*(variant.habits for variant in chosen))


def _lacking(chosen: Sequence[Variant]) -> frozenset[str]:
    return frozenset().union(*(variant.without for variant in chosen))


def wish_for(chosen: Sequence[Variant], draw: Draw) -> Wish:
    """Return what an instance has to be like to carry these variants; its family is drawn from those that fit."""
    purged = any(variant.purged for variant in chosen)
    return Wish(draw.pick(_shared(chosen)), _wanted(chosen), _lacking(chosen), purged)
