"""Notes: what an agent may remark in a thought about what the last call has shown, read off the steps as they happened.

A note is about one number or one name, and silent where the call it is about did not succeed.
"""

from __future__ import annotations

from trajaudit.testbeds.asset_ops.claims import Slots, got, reading, side
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.speech import Note
from trajaudit.testbeds.replay import Course


def listed(it: Instance) -> Note:
    def read(course: Course) -> Slots | None:
        here = got(course, "assets.read")
        return {"count": str(len(here)), "site": it.site} if here else None

    return Note("listed", read)


def counted(kind: str, stage: str, field: str, **slots: str) -> Note:
    """Return a note of a number that the last call showed."""

    def read(course: Course) -> Slots | None:
        shown = got(course, stage)
        return {"count": str(shown[field]), **slots} if shown else None

    return Note(kind, read)


def fitted(it: Instance) -> Note:
    def read(course: Course) -> Slots | None:
        fitted = got(course, "sensors.read")
        return {"sensor": it.sensor, "asset": it.asset} if fitted and it.sensor in fitted else None

    return Note("installed", read)


def _written(course: Course) -> Slots | None:
    fetched = got(course, "history")
    return {"file": fetched["file_path"]} if fetched else None


def read_off(it: Instance) -> Note:
    """Return a note of the statistic, or in the limit family of its side of the limit."""

    def read(course: Course) -> Slots | None:
        shown = got(course, "statistics")
        if shown is None:
            return None
        if it.family == "limit":
            value, limit = reading(shown["mean"]), reading(it.limit / 100)
            return {"value": value, "limit": limit, "unit": shown["unit"], "side": side(value, limit)}
        return {"stat": it.stat, "value": reading(shown[it.stat]), "unit": shown["unit"]}

    return Note("side" if it.family == "limit" else "stat", read)


def _foreseen(course: Course) -> Slots | None:
    shown = got(course, "forecast")
    return {"value": reading(shown["forecast_mean"]), "unit": shown["unit"]} if shown else None


def catalogued(it: Instance) -> Note:
    def read(course: Course) -> Slots | None:
        shown = got(course, "modes")
        known = [mode["failure_mode"] for mode in shown["failure_modes"]] if shown else []
        return {"mode": it.mode, "asset": it.asset} if it.mode in known else None

    return Note("mode", read)


WRITTEN, FORESEEN = Note("file", _written), Note("forecast", _foreseen)
