"""What stands at a site: assets, their installed sensors, open work orders and recorded events, by name alone.

Everything is drawn when it is asked for from the world's name (the seed of the set), so two runs of one set that ask
about the same chiller find the same chiller, and no run pays for a site that it does not visit.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from trajaudit.testbeds.asset_ops.catalogue import CLASSES, class_of
from trajaudit.testbeds.draw import Draw

PRIORITIES = (1, 2, 3, 4)
EVENT_KINDS = ("alert", "alert", "anomaly", "operator note")


class WorkOrder(NamedTuple):
    """An order as the work-order system lists it; ``opened`` is an ISO date."""

    wo_id: str
    code: str
    priority: int
    opened: str


@lru_cache(maxsize=1024)
def assets_of(world: str, site: str) -> tuple[str, ...]:
    """Return the assets of a site: two or three of each class, in no order that means anything."""
    draw = Draw(f"{world}|{site}|assets")
    names: list[str] = []
    for kind in CLASSES:
        numbers = draw.shuffled(range(1, 13))[: draw.between(2, 3)]
        names += [f"{kind} {number}" for number in numbers]
    return tuple(draw.shuffled(names))


@lru_cache(maxsize=4096)
def sensors_of(world: str, site: str, asset: str) -> tuple[str, ...]:
    """Return the sensors that are installed on an asset: all of its class but one or two."""
    kind = class_of(asset)
    if kind is None or asset not in assets_of(world, site):
        return ()
    draw = Draw(f"{world}|{site}|{asset}|sensors")
    names = [sensor.name for sensor in kind.sensors]
    return tuple(draw.shuffled(names)[: len(names) - draw.between(1, 2)])


def orders_of(world: str, site: str, asset: str) -> tuple[WorkOrder, ...]:
    """Return the work orders that are open on an asset before a run starts, oldest first."""
    kind = class_of(asset)
    if kind is None or asset not in assets_of(world, site):
        return ()
    draw = Draw(f"{world}|{site}|{asset}|orders")
    day, orders = date(2023, 12, 1), []
    for _ in range(draw.between(0, 5)):
        day += timedelta(days=draw.between(2, 40))
        code = draw.pick(kind.modes).code
        number = 10_000 + draw.below(90_000)
        orders.append(WorkOrder(f"WO-{number}", code, draw.pick(PRIORITIES), day.isoformat()))
    return tuple(orders)


def events_of(world: str, site: str, asset: str, week: str) -> tuple[dict[str, str], ...]:
    """Return what was recorded on an asset in a week, in order of time."""
    if asset not in assets_of(world, site):
        return ()
    draw = Draw(f"{world}|{site}|{asset}|events|{week}")
    hours = sorted({draw.below(168) for _ in range(draw.between(2, 7))})
    monday = date.fromisoformat(week)
    return tuple(
        {
            "event_id": f"EV-{100_000 + draw.below(900_000)}",
            "time": f"{(monday + timedelta(days=hour // 24)).isoformat()}T{hour % 24:02d}:{draw.below(60):02d}",
            "kind": draw.pick(EVENT_KINDS),
        }
        for hour in hours
    )
