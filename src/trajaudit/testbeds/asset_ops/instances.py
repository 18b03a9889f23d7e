"""Instances: a question about the plant, what is true behind it, and how its scripted agents go about it.

An instance is made fit for the fault that it is to carry: where a fault needs a file that is gone or another chiller
with the same sensor, the instance has one. Its clean run has it too, and clean runs are drawn from the same instances
as faulty ones, so neither the question nor the setting says which is which.

Limits are set a few per cent from the truth on either side, and whether a work order is due is drawn first and the
limit after it, so that no conclusion is the likelier one.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

from trajaudit.testbeds.asset_ops.catalogue import CHECKPOINTS, CLASSES, SENSORS, SITES, class_of
from trajaudit.testbeds.asset_ops.histories import FIRST_WEEK, WEEKS, Week, history
from trajaudit.testbeds.asset_ops.site import PRIORITIES, assets_of, orders_of, sensors_of
from trajaudit.testbeds.asset_ops.wording import bank
from trajaudit.testbeds.asset_ops.world import Troubles
from trajaudit.testbeds.draw import Draw

LISTING = ("asset_list", "sensor_list")
READING = ("statistic", "trend", "limit", "comparison")
ANALYSIS = ("anomalies", "forecast", "inspection")
FAILURES = ("failure_modes", "signs", "detectable")
ORDERS = ("order", "bundling", "events")
ABSTAINING = ("no_asset", "no_sensor", "no_data", "no_service")
FAMILIES = (*LISTING, *READING, *ANALYSIS, *FAILURES, *ORDERS, *ABSTAINING)
"""What can be asked. In the abstaining families the right answer is that there is no answer."""
STATISTICS = ("mean", "minimum", "maximum")
HABITS = ("assets", "readback", "checked", "basis", "names_model", "advice")
"""What agents may do or say in a healthy run without having to; ``taciturn`` ones note nothing of what they see."""
_PASSING = ("assets", "sensors", "history", "statistics", "get_failure_modes", "list_work_orders")


class Unfit(Exception):
    """The draw gave an instance that its question or its fault does not fit; the next one is tried."""


class Instance(NamedTuple):
    """One question. ``key`` seeds all that is drawn for it, ``world`` names the plant that it is asked about.

    ``other`` and ``other_week`` are what the question could be confused with; ``limit`` is in hundredths for a limit
    on a reading and a plain count for one on anomalies. Fields that a family does not use hold something all the same.
    """

    key: str
    world: str
    wording: str
    family: str
    site: str
    asset: str
    other: str
    sensor: str
    week: str
    other_week: str
    stat: str
    limit: int
    mode: str
    code: str
    priority: int
    since: str
    model: str
    troubles: Troubles
    habits: frozenset[str]
    goal: str

    @property
    def place(self) -> str:
        """The name that seeds the histories of the site."""
        return f"{self.world}|{self.site}"

    def series(self, asset: str, week: str) -> Week:
        return history(self.place, asset, self.sensor, week)


class Wish(NamedTuple):
    """What an instance is to be like: its family, habits it has to have or to lack, and whether its file is gone."""

    family: str
    habits: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    purged: bool = False


def instance_of(key: str, world: str, wording: str, wish: Wish, lively: bool) -> Instance:
    """Draw an instance. ``lively`` settings have passing failures, files that are gone and optional steps.

    Raises:
        Unfit: where the draw gives nothing that the family can ask about.
    """
    draw = Draw(key)
    site = draw.pick(SITES)
    asset, other, sensor = _subjects(draw, world, site, wish.family)
    weeks = [FIRST_WEEK + timedelta(weeks=draw.between(1, WEEKS - 2))]
    weeks.append(weeks[0] + timedelta(weeks=draw.pick((-1, 1))))
    if wish.family == "no_data":
        weeks[0] = FIRST_WEEK + timedelta(weeks=draw.pick((-60, WEEKS + 20)) + draw.below(40))
    week, other_week = (day.isoformat() for day in weeks)
    kind = class_of(asset)
    assert kind is not None
    mode = draw.pick(kind.modes)
    if wish.family == "signs" and not {name for name, _ in mode.signs} & set(sensors_of(world, site, asset)):
        raise Unfit
    drawn = Instance(
        *(key, world, wording, wish.family, site, asset, other, sensor, week, other_week, draw.pick(STATISTICS), 0),
        *(mode.name, mode.code, draw.pick(PRIORITIES), "", draw.pick(CHECKPOINTS[:2])[0]),
        *(_troubles(draw, wish, lively), _habits(draw, wish, lively), ""),
    )
    drawn = drawn._replace(limit=_limit(draw, drawn), since=_since(draw, drawn))
    return drawn._replace(goal=_goal(drawn))


def _subjects(draw: Draw, world: str, site: str, family: str) -> tuple[str, str, str]:
    """Return (asset, another of its class, a sensor that is on both), or what the abstaining families lack."""
    kind = draw.pick(tuple(CLASSES.values()))
    here = [name for name in assets_of(world, site) if name.startswith(kind.name)]
    asset, other = draw.shuffled(here)[:2]
    both = [name for name in sensors_of(world, site, asset) if name in sensors_of(world, site, other)]
    sensor = draw.pick(both)
    if family == "no_asset":
        asset = draw.pick([name for n in range(1, 13) if (name := f"{kind.name} {n}") not in here])
    if family == "no_sensor":
        sensor = draw.pick([s.name for s in kind.sensors if s.name not in sensors_of(world, site, asset)])
    return asset, other, sensor


def _troubles(draw: Draw, wish: Wish, lively: bool) -> Troubles:
    passing = frozenset([draw.pick(_PASSING)]) if lively and draw.chance(0.2) else frozenset()
    lasting = frozenset(["tsfm_anomaly_detection"]) if wish.family == "no_service" else frozenset()
    files = wish.family in ("statistic", "trend", "limit", "anomalies", "forecast", "inspection")
    gone = wish.purged or (lively and draw.chance(0.1))
    return Troubles(passing, lasting, files and gone)


def _habits(draw: Draw, wish: Wish, lively: bool) -> frozenset[str]:
    habits = {habit for habit in HABITS if draw.chance(0.5 if lively else 0.25)}
    taciturn = {"taciturn"} if draw.chance(0.1) else set()
    return (wish.habits | habits | taciturn) - wish.without


def _limit(draw: Draw, it: Instance) -> int:
    below, size = draw.chance(0.5), draw.between(5, 60)
    if it.family == "limit":
        mean = it.series(it.asset, it.week).mean
        return mean + max(3, mean * size // 1000) * (1 if below else -1)
    if it.family == "inspection":
        count = len(it.series(it.asset, it.week).anomalies)
        return draw.between(1, count) if count and not below else count + draw.between(1, 3)
    return 0


def _since(draw: Draw, it: Instance) -> str:
    """Return a day with at least two open orders from then on and at least one before."""
    if it.family != "bundling":
        return ""
    days = [order.opened for order in orders_of(it.world, it.site, it.asset)]
    if len(days) < 3:
        raise Unfit
    later = draw.between(1, len(days) - 2)
    between = (date.fromisoformat(days[later]) - date.fromisoformat(days[later - 1])).days
    return (date.fromisoformat(days[later]) - timedelta(days=draw.below(between))).isoformat()


def _goal(it: Instance) -> str:
    limit = f"{it.limit / 100:.2f}" if it.family == "limit" else str(it.limit)
    kind = {"no_data": "statistic", "no_asset": "sensor_list", "no_sensor": "statistic", "no_service": "anomalies"}
    name = kind.get(it.family, it.family)
    if name == "forecast" and "names_model" in it.habits:
        name = "forecast_with"
    return bank(it.wording).say(
        f"goal.{name}",
        Draw(f"{it.key}|goal"),
        site=it.site,
        asset=it.asset,
        other=it.other,
        sensor=it.sensor,
        week=it.week,
        stat=it.stat,
        limit=limit,
        unit=SENSORS[it.sensor].unit,
        mode=it.mode,
        code=it.code,
        priority=it.priority,
        since=it.since,
        model=it.model,
    )
