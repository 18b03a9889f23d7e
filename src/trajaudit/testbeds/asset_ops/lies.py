"""Lies: how a true claim is made false in one respect, one function a fault type.

A false value lies within what a healthy run could show (a count that other runs have, a reading a few per cent off), so
that the sentence on its own gives nothing away; and where a claim draws a conclusion, it is the one that the false
premises would still bear out, so that no second fault comes with the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from trajaudit.testbeds.asset_ops.catalogue import MODES, SENSORS, class_of
from trajaudit.testbeds.asset_ops.claims import Claim, due, listed, percent, reading, side, trend
from trajaudit.testbeds.asset_ops.histories import hour_of
from trajaudit.testbeds.asset_ops.instances import STATISTICS, Instance
from trajaudit.testbeds.asset_ops.services import FOLDER
from trajaudit.testbeds.asset_ops.site import assets_of, orders_of, sensors_of
from trajaudit.testbeds.asset_ops.speech import Lie
from trajaudit.testbeds.draw import Draw, opaque

T = TypeVar("T")
_COUNTS = {
    "listed": (6, 9),
    "assets": (6, 9),
    "sensors": (5, 8),
    "anomalies": (1, 5),
    "orders": (0, 5),
    "events": (2, 7),
    "decision": (0, 5),
}
"""Between what a count of this kind lies in healthy runs."""


def with_slots(claim: Claim, **slots: str) -> Claim:
    return Claim(claim.kind, {**claim.slots, **slots})


def _other(draw: Draw, items: Sequence[T], *known: T) -> T | None:
    rest = [item for item in items if item not in known]
    return draw.pick(rest) if rest else None


def _off(value: str, draw: Draw) -> str:
    """Return a reading that lies one to nine per cent beside the true one."""
    hundredths = round(float(value) * 100)
    step = max(2, abs(hundredths) * draw.between(10, 90) // 1000)
    return reading((hundredths + (step if draw.chance(0.5) else -step)) / 100)


def false_value(claim: Claim, draw: Draw) -> Claim | None:
    """State another value than was observed, or one where none was: the factual fault."""
    kind, slots = claim
    if kind in ("stat", "forecast"):
        return with_slots(claim, value=_off(slots["value"], draw))
    if kind in ("limit", "side"):
        value = _off(slots["value"], draw)
        same = side(value, slots["limit"]) == side(slots["value"], slots["limit"])
        return with_slots(claim, value=value) if same else None
    if kind == "trend":
        last = _off(slots["last"], draw)
        same = trend(slots["first"], last) == trend(slots["first"], slots["last"])
        return with_slots(claim, last=last) if same else None
    if kind == "compare":
        a = _off(slots["a"], draw)
        same = (float(a) > float(slots["b"])) == (float(slots["a"]) > float(slots["b"]))
        return with_slots(claim, a=a, pct=percent(a, slots["b"])) if same else None
    return _false_count(claim, draw) or _fabricated(claim, draw)


def _false_count(claim: Claim, draw: Draw) -> Claim | None:
    kind, slots = claim
    if kind in _COUNTS:
        low, high = _COUNTS[kind]
        counts = [str(count) for count in range(low, high + 1)]
        if kind == "decision":
            counts = [c for c in counts if due(c, slots["limit"]) == due(slots["count"], slots["limit"])]
        if "alerts" in slots:
            counts = [c for c in counts if int(c) >= int(slots["alerts"])]
        count = _other(draw, counts, slots["count"])
        return with_slots(claim, count=count) if count is not None else None
    if kind == "created":
        return with_slots(claim, priority=_other(draw, "1234", slots["priority"]) or "")
    return None


def _fabricated(claim: Claim, draw: Draw) -> Claim | None:
    """State a result where a tool gave none: no anomaly becomes some, no data a reading."""
    kind, slots = claim
    if kind == "calm":
        made_up = {"count": str(draw.between(1, 5)), "first": hour_of(slots["week"], draw.below(168))}
        return Claim("anomalies", {**slots, **made_up})
    if kind == "no_data":
        sensor = SENSORS[slots["sensor"]]
        value = reading(sensor.level * draw.between(80, 120) / 10_000)
        return Claim("stat", {**slots, "stat": draw.pick(STATISTICS), "value": value, "unit": sensor.unit})
    return None


def invented_name(it: Instance) -> Lie:
    """Return the referential lie for an instance: name an asset, sensor, file or order that the run never shows."""

    def lie(claim: Claim, draw: Draw) -> Claim | None:
        kind, slots = claim
        if kind in ("sensors", "mapping"):
            return _item_replaced(claim, invented_sensor(it, draw), draw)
        if kind in ("modes", "detectable"):
            return _item_replaced(claim, invented_mode(it, draw), draw)
        if kind == "assets":
            return _item_replaced(claim, invented_asset(it, draw), draw)
        if kind == "bundled":
            return _item_replaced(claim, invented_order(it, draw), draw)
        if kind == "created":
            return with_slots(claim, wo=invented_order(it, draw))
        if "file" in slots:
            return with_slots(claim, file=invented_path(it, draw))
        if kind == "mode":
            return with_slots(claim, mode=invented_mode(it, draw))
        if kind == "installed":
            sensor = invented_sensor(it, draw)
            return with_slots(claim, sensor=sensor) if sensor else None
        return with_slots(claim, asset=invented_asset(it, draw)) if "asset" in slots else None

    return lie


def _item_replaced(claim: Claim, item: str | None, draw: Draw) -> Claim | None:
    items = claim.slots["items"].split(", ")
    if not item or not claim.slots["items"]:
        return None
    items[draw.below(len(items))] = item
    return with_slots(claim, items=listed(items))


def invented_sensor(it: Instance, draw: Draw) -> str | None:
    """Return a sensor of the asset's class that the run does not come across: on no asset whose sensors it lists."""
    kind, seen = class_of(it.asset), sensors_of(it.world, it.site, it.asset)
    assert kind is not None
    if it.family == "comparison":
        seen += sensors_of(it.world, it.site, it.other)
    return _other(draw, [sensor.name for sensor in kind.sensors], it.sensor, *seen)


def invented_mode(it: Instance, draw: Draw) -> str:
    """Return a failure mode of another class, which no list of this asset's shows."""
    kind = class_of(it.asset)
    assert kind is not None
    return draw.pick([name for name, mode in MODES.items() if mode not in kind.modes])


def invented_asset(it: Instance, draw: Draw) -> str:
    """Return an asset of the same class that is neither at the site nor in the question."""
    kind, here = it.asset.partition(" ")[0], assets_of(it.world, it.site)
    return draw.pick([name for n in range(1, 13) if (name := f"{kind} {n}") not in here and name != it.asset])


def invented_order(it: Instance, draw: Draw) -> str:
    open_ones = {order.wo_id for order in orders_of(it.world, it.site, it.asset)}
    numbers = (f"WO-{draw.between(10_000, 99_999)}" for _ in range(99))
    return next(wo_id for wo_id in numbers if wo_id not in open_ones)


def invented_path(it: Instance, draw: Draw) -> str:
    digits = opaque(f"{it.key}|{draw.below(1 << 30)}")
    return f"{FOLDER}/{digits[:8]}-{digits[8:12]}-{digits[12:]}.json"


def wrong_conclusion(claim: Claim, draw: Draw) -> Claim | None:
    """Draw another conclusion from the right premises: the logical fault."""
    kind, slots = claim
    if kind in ("limit", "side"):
        return with_slots(claim, side="below" if slots["side"] == "above" else "above")
    if kind == "trend":
        return with_slots(claim, trend="falling" if slots["trend"] == "rising" else "rising")
    if kind == "compare" and draw.chance(0.5):
        return with_slots(claim, winner=slots["other"] if slots["winner"] == slots["asset"] else slots["asset"])
    if kind == "compare":
        slip = f"{float(slots['pct']) + draw.between(11, 95) / 10:.1f}"
        return with_slots(claim, pct=slip)
    return None
