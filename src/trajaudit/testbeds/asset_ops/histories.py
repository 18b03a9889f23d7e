"""Sensor histories, a week at a time, and what can be worked out from one: statistics, anomalies, forecasts.

A history is hourly and made when it is asked for, from the name of the sensor and the week alone: a daily load curve,
a drift over the week, noise, and now and then an hour that is far off. Nothing is stored, so a set
of any size costs what its runs look at. All of it is integer arithmetic in hundredths of the unit.

Two choices decide what the questions about a week can be. Drift is never below a hundredth of the level, so that
"rising or falling" has an answer; and an injected anomaly is larger than the daily swing and three times the drift, so
that the detector, which compares each hour with the same hour of the other days, finds the injected ones and no other.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from hashlib import shake_128
from statistics import median
from typing import NamedTuple

from trajaudit.testbeds.asset_ops.catalogue import SENSORS
from trajaudit.testbeds.draw import Draw

HOURS = 168
FIRST_WEEK, WEEKS = date(2019, 1, 7), 260
"""Histories exist for these many weeks from this Monday on, and for none before or after."""
_LOAD = (-8, -9, -10, -10, -9, -6, -2, 3, 6, 8, 9, 10, 10, 10, 9, 8, 7, 5, 2, -1, -3, -5, -6, -7)
"""The daily load curve: tenths of a sensor's swing by hour of day."""


class Week(NamedTuple):
    """One sensor over one week: hourly ``values`` in hundredths."""

    values: tuple[int, ...]

    @property
    def mean(self) -> int:
        return _rounded(sum(self.values), HOURS)

    @property
    def daily(self) -> tuple[int, ...]:
        """The mean of each of the seven days."""
        return tuple(_rounded(sum(self.values[24 * day : 24 * day + 24]), 24) for day in range(7))

    @property
    def anomalies(self) -> tuple[int, ...]:
        """The hours that lie further from the same hour of the other days than eight times the usual distance."""
        usual = [int(median(self.values[hour::24])) for hour in range(24)]
        away = [abs(value - usual[hour % 24]) for hour, value in enumerate(self.values)]
        limit = 8 * max(1, int(median(away)))
        return tuple(hour for hour, distance in enumerate(away) if distance > limit)

    def forecast(self) -> tuple[int, ...]:
        """Daily means of the following week: those of this one, moved on by its drift from first to last day."""
        daily = self.daily
        return tuple(day + (daily[6] - daily[0]) * 7 // 6 for day in daily)


def _rounded(total: int, count: int) -> int:
    """Return total / count, rounded half up."""
    return (2 * total + count) // (2 * count)


def recorded(week: date) -> bool:
    """Return whether histories exist for the week that begins on this day."""
    return FIRST_WEEK <= week < FIRST_WEEK + timedelta(weeks=WEEKS)


@lru_cache(maxsize=8192)
def history(world: str, asset: str, sensor: str, week: str) -> Week:
    """Return the hourly history of a sensor that is installed on an asset, for the week from Monday ``week`` on."""
    key = f"{world}|{asset}|{sensor}"
    kind, own = SENSORS[sensor], Draw(key)
    level = kind.level * own.between(80, 120) // 100
    noise = max(1, kind.swing // 150)
    draw = Draw(f"{key}|{week}")
    drift = level * draw.between(10, 25) // 1000 * (1 if draw.chance(0.5) else -1)
    bytes_ = shake_128(f"{key}|{week}".encode()).digest(HOURS)
    values = []
    for hour in range(HOURS):
        load = _LOAD[hour % 24] * kind.swing // 10
        values.append(level + load + drift * hour // HOURS + (bytes_[hour] - 128) * noise // 128)
    for _ in range(draw.pick((0, 0, 1, 2, 3, 4, 5))):
        size = max(kind.swing, 3 * abs(drift)) * draw.between(13, 22) // 10
        values[draw.below(HOURS)] += size if draw.chance(0.5) else -size
    return Week(tuple(max(0, value) for value in values))


def hour_of(week: str, hour: int) -> str:
    """Return the timestamp of an hour of a week.

    >>> hour_of("2020-04-27", 25)
    '2020-04-28T01:00'
    """
    day = date.fromisoformat(week) + timedelta(days=hour // 24)
    return f"{day.isoformat()}T{hour % 24:02d}:00"


def number(hundredths: int) -> float:
    """Return a value as tools show it."""
    return hundredths / 100
