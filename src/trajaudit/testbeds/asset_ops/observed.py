"""True claims: what the oracle may state after the steps so far, worked out from what the tools have shown.

Each function returns a claim, or nothing where no call bears it out. The asset, the sensor and the week of a claim are
those that the history was really fetched for, so that an agent that fetched another chiller's data says so.
"""

from __future__ import annotations

from typing import Any

from trajaudit.testbeds.asset_ops.claims import Claim, Slots, args_of, due, got, listed, percent, reading, side, trend
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.replay import Course


def _fetched(course: Course, subject: int | None = None) -> Slots:
    """Return what the history that was fetched is of."""
    given = got(course, "history", subject) or args_of(course, "history", subject)
    return {"sensor": given["sensor"], "asset": given["assetnum"], "week": given["start"]}


def names(it: Instance, course: Course) -> list[Claim]:
    """The assets of the site, or that the one asked about is not among them."""
    here = got(course, "assets.read")
    if here is None:
        return [Claim("failed", {"tool": "assets"})]
    if it.family == "no_asset":
        return [Claim("no_asset", {"site": it.site, "asset": it.asset})] if it.asset not in here else []
    return [Claim("assets", {"site": it.site, "count": str(len(here)), "items": listed(here)})]


def sensors(it: Instance, course: Course) -> list[Claim]:
    """The sensors of the asset, or that the one asked about is not among them."""
    fitted = got(course, "sensors.read")
    if fitted is None:
        return [Claim("failed", {"tool": "sensors"})]
    asset = args_of(course, "sensors")["assetnum"]
    if it.family == "no_sensor":
        return [Claim("no_sensor", {"asset": asset, "sensor": it.sensor})] if it.sensor not in fitted else []
    return [Claim("sensors", {"asset": asset, "count": str(len(fitted)), "items": listed(fitted)})]


def stored(it: Instance, course: Course) -> list[Claim]:
    """Where the history is, or that there is none."""
    fetched = got(course, "history")
    if fetched is None:
        return [Claim("failed", {"tool": "history"})]
    if not fetched["total_observations"]:
        return [Claim("no_data", _fetched(course))]
    return [Claim("stored", {**_fetched(course), "file": fetched["file_path"]})]


def statistic(it: Instance, course: Course) -> list[Claim]:
    """The answer to a question about one week's readings: the statistic, its trend, or its side of the limit."""
    shown = got(course, "statistics")
    if shown is None:
        return [Claim("failed", {"tool": "statistics"})]
    slots = {**_fetched(course), "unit": shown["unit"]}
    if it.family == "trend":
        first, last = reading(shown["daily_means"][0]), reading(shown["daily_means"][-1])
        return [Claim("trend", {**slots, "first": first, "last": last, "trend": trend(first, last)})]
    if it.family == "limit":
        value, limit = reading(shown["mean"]), reading(it.limit / 100)
        return [Claim("limit", {**slots, "value": value, "limit": limit, "side": side(value, limit)})]
    return [Claim("stat", {**slots, "stat": it.stat, "value": reading(shown[it.stat])})]


def comparison(it: Instance, course: Course) -> list[Claim]:
    one, two = got(course, "statistics", 0), got(course, "statistics", 1)
    if one is None or two is None:
        return [Claim("failed", {"tool": "statistics"})]
    slots, other = _fetched(course, 0), _fetched(course, 1)["asset"]
    a, b = reading(one["mean"]), reading(two["mean"])
    winner = slots["asset"] if float(a) > float(b) else other
    compared = {"other": other, "a": a, "b": b, "unit": one["unit"], "winner": winner, "pct": percent(a, b)}
    return [Claim("compare", {**slots, **compared})]


def anomalies(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "tsad")
    if shown is None:
        return [Claim("failed", {"tool": "tsfm_anomaly_detection"})]
    slots = _fetched(course)
    if not shown["total_anomalies"]:
        return [Claim("calm", slots)]
    count, first = str(shown["total_anomalies"]), shown["anomalies"][0]["time"]
    return [Claim("anomalies", {**slots, "count": count, "first": first})]


def forecast(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "forecast")
    if shown is None:
        return [Claim("failed", {"tool": "tsfm_forecasting"})]
    value = {"value": reading(shown["forecast_mean"]), "unit": shown["unit"], "model": shown["model_checkpoint"]}
    return [Claim("forecast", {**_fetched(course), **value})]


def readback(it: Instance, course: Course) -> list[Claim]:
    return [Claim("readback", {})] if got(course, "readback") is not None else []


def modes(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "modes")
    if shown is None:
        return [Claim("failed", {"tool": "get_failure_modes"})]
    asset = args_of(course, "modes")["asset_name"]
    return [
        Claim("modes", {"asset": asset, "items": listed([mode["failure_mode"] for mode in shown["failure_modes"]])})
    ]


def signs(it: Instance, course: Course) -> list[Claim]:
    """The sensors that show one failure mode, or the failure modes that any of the sensors show."""
    shown = got(course, "mapping")
    if shown is None:
        return [Claim("failed", {"tool": "get_sensor_mapping"})]
    asset, mapping = shown["asset_name"], shown["mapping"]
    if it.family == "signs":
        return [Claim("mapping", {"asset": asset, "mode": it.mode, "items": listed(sorted(mapping[it.mode]))})]
    return [Claim("detectable", {"asset": asset, "items": listed([mode for mode, found in mapping.items() if found])})]


def count_of(course: Course) -> int | None:
    """Return how many anomalies were found; null where the detector gave no result."""
    shown = got(course, "tsad")
    return None if shown is None else int(shown["total_anomalies"])


def decision(it: Instance, course: Course) -> list[Claim]:
    count = count_of(course)
    if count is None:
        return [Claim("failed", {"tool": "tsfm_anomaly_detection"})]
    slots = {"count": str(count), "limit": str(it.limit), "asset": it.asset}
    return [Claim("decision", {**slots, "due": due(slots["count"], slots["limit"])})]


def created(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "create")
    if shown is None:
        return []
    slots = {"wo": shown["wo_id"], "asset": shown["assetnum"], "code": shown["failure_code"]}
    return [Claim("created", {**slots, "priority": str(shown["priority"])})]


def open_orders(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "orders")
    return [Claim("orders", {"asset": shown["assetnum"], "count": str(shown["total_open"])})] if shown else []


def checked(it: Instance, course: Course) -> list[Claim]:
    """That the open orders were looked up before one was raised; some agents say so."""
    orders, create = course.at.get(("orders", None)), course.at.get(("create", None))
    if "checked" not in it.habits or create is None or orders is None or orders.index > create.index:
        return []
    return [Claim("checked", {"asset": args_of(course, "orders")["assetnum"]})]


def bundled(it: Instance, course: Course) -> list[Claim]:
    shown = got(course, "bundle")
    if shown is None:
        return [Claim("failed", {"tool": "bundle_work_orders"})]
    return [Claim("bundled", {"bundle": shown["bundle_id"], "items": listed(shown["work_orders"])})]


def events(it: Instance, course: Course) -> list[Claim]:
    shown: Any = got(course, "events")
    if shown is None:
        return [Claim("failed", {"tool": "get_events"})]
    count = {"count": str(shown["total_events"]), "alerts": str(shown["alerts"])}
    return [Claim("events", {"asset": shown["assetnum"], "week": shown["start"], **count})]
