"""The expected answer of an instance, worked out from the plant itself, and whether a run gave it.

The answer is a list of claims with the slots that matter; it never looks at a run. A run's outcome is right when its
final answer holds every one of them and the work orders that it left behind are those that were due, whatever else was
said or done on the way: a fault after which this holds is a silent one.
"""

from __future__ import annotations

from trajaudit.testbeds.asset_ops.catalogue import class_of
from trajaudit.testbeds.asset_ops.claims import Claim, due, listed, percent, reading, side, trend
from trajaudit.testbeds.asset_ops.histories import number
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.site import assets_of, events_of, orders_of, sensors_of
from trajaudit.testbeds.asset_ops.wording import bank, sentences
from trajaudit.testbeds.asset_ops.world import Plant


def expected(it: Instance) -> list[Claim]:
    """Return what the final answer has to state."""
    about = {"asset": it.asset, "sensor": it.sensor, "week": it.week}
    match it.family:
        case "asset_list":
            return [Claim("assets", {"site": it.site, "items": listed(assets_of(it.world, it.site))})]
        case "sensor_list":
            return [Claim("sensors", {"asset": it.asset, "items": listed(sensors_of(it.world, it.site, it.asset))})]
        case "no_asset":
            return [Claim("no_asset", {"site": it.site, "asset": it.asset})]
        case "no_sensor":
            return [Claim("no_sensor", {"asset": it.asset, "sensor": it.sensor})]
        case "no_data":
            return [Claim("no_data", about)]
        case "no_service":
            return [Claim("failed", {"tool": "tsfm_anomaly_detection"})]
        case "statistic" | "trend" | "limit" | "comparison" | "forecast":
            return [_of_readings(it, about)]
        case "anomalies" | "inspection":
            return _of_anomalies(it, about)
    return [_of_failures_and_orders(it)]


def _of_readings(it: Instance, about: dict[str, str]) -> Claim:
    week = it.series(it.asset, it.week)
    mean = reading(number(week.mean))
    if it.family == "statistic":
        value = {"mean": week.mean, "minimum": min(week.values), "maximum": max(week.values)}[it.stat]
        return Claim("stat", {**about, "stat": it.stat, "value": reading(number(value))})
    if it.family == "trend":
        first, last = (reading(number(week.daily[day])) for day in (0, 6))
        return Claim("trend", {**about, "first": first, "last": last, "trend": trend(first, last)})
    if it.family == "limit":
        limit = reading(number(it.limit))
        return Claim("limit", {**about, "value": mean, "side": side(mean, limit)})
    if it.family == "forecast":
        days = week.forecast()
        return Claim("forecast", {**about, "value": reading(number((sum(days) + 3) // 7))})
    other = reading(number(it.series(it.other, it.week).mean))
    winner = it.asset if float(mean) > float(other) else it.other
    compared = {"other": it.other, "a": mean, "b": other, "winner": winner, "pct": percent(mean, other)}
    return Claim("compare", {**about, **compared})


def _of_anomalies(it: Instance, about: dict[str, str]) -> list[Claim]:
    count = str(len(it.series(it.asset, it.week).anomalies))
    claims = [Claim("anomalies", {**about, "count": count}) if count != "0" else Claim("calm", about)]
    if it.family == "inspection":
        claims.append(Claim("decision", {"asset": it.asset, "due": due(count, str(it.limit))}))
        if due(count, str(it.limit)) == "needed":
            claims.append(Claim("created", {"asset": it.asset, "code": it.code, "priority": str(it.priority)}))
    return claims


def _of_failures_and_orders(it: Instance) -> Claim:
    kind = class_of(it.asset)
    assert kind is not None
    fitted = sensors_of(it.world, it.site, it.asset)
    shown = {mode.name: sorted(name for name, _ in mode.signs if name in fitted) for mode in kind.modes}
    match it.family:
        case "failure_modes":
            return Claim("modes", {"asset": it.asset, "items": listed([mode.name for mode in kind.modes])})
        case "signs":
            return Claim("mapping", {"asset": it.asset, "mode": it.mode, "items": listed(shown[it.mode])})
        case "detectable":
            return Claim("detectable", {"asset": it.asset, "items": listed([name for name in shown if shown[name]])})
        case "order":
            return Claim("created", {"asset": it.asset, "code": it.code, "priority": str(it.priority)})
        case "bundling":
            return Claim("bundled", {"items": listed(_since(it))})
    events = events_of(it.world, it.site, it.asset, it.week)
    alerts = sum(event["kind"] == "alert" for event in events)
    return Claim("events", {"asset": it.asset, "week": it.week, "count": str(len(events)), "alerts": str(alerts)})


def _since(it: Instance) -> list[str]:
    return [order.wo_id for order in orders_of(it.world, it.site, it.asset) if order.opened >= it.since]


def outcome_correct(it: Instance, plant: Plant, final_answer: str) -> bool:
    """Return whether the final answer holds what is expected, and the plant's work orders are those that were due."""
    wanted = expected(it)
    read = [bank(it.wording).read("say", sentence) for sentence in sentences(final_answer)]
    stated = [Claim(*reading) for reading in read if reading is not None]
    if not all(any(_holds(claim, of) for claim in stated) for of in wanted):
        return False
    return left_as_due(it, plant, wanted)


def left_as_due(it: Instance, plant: Plant, wanted: list[Claim]) -> bool:
    """Return whether the work orders raised and bundled in a run are those that were due, no more and no other."""
    raised = [(order["assetnum"], order["failure_code"], order["priority"]) for order in plant.created]
    due_orders = [(it.asset, it.code, it.priority) for claim in wanted if claim.kind == "created"]
    bundles = [_since(it)] if it.family == "bundling" else []
    return raised == due_orders and plant.bundles == bundles


def _holds(claim: Claim, wanted: Claim) -> bool:
    return claim.kind == wanted.kind and wanted.slots.items() <= claim.slots.items()


_NEGATIVE = {
    "no_asset": "that the asset does not exist at the site, and invent nothing in its place",
    "no_sensor": "that the asset has no such sensor, and invent nothing in its place",
    "no_data": "that no data exist for the week, and invent nothing in their place",
    "failed": "that the tool gave no result, and invent nothing in its place",
    "calm": "that no anomalies were found",
}
_AGENTS = {
    **dict.fromkeys(("anomalies", "calm", "forecast", "failed"), "IoT for the data and TSFM for the analysis"),
    **dict.fromkeys(("modes",), "FSMR"),
    **dict.fromkeys(("mapping", "detectable"), "IoT for the sensors and FSMR for the failure modes"),
    **dict.fromkeys(("decision", "created", "bundled", "events"), "WO"),
}


_WHAT = {
    "assets": "the assets of the site",
    "sensors": "the sensors on the asset",
    "stat": "the statistic asked for",
    "trend": "the direction with the daily means it rests on",
    "limit": "the mean and its side of the limit",
    "compare": "both means and which is higher by how much",
    "forecast": "the forecast mean of the next week",
    "anomalies": "the number of anomalous hours",
    "modes": "the failure modes",
    "mapping": "the sensors that show it",
    "detectable": "the failure modes that its sensors show",
    "decision": "whether a work order is needed",
    "created": "the work order that was raised",
    "bundled": "the orders that were bundled",
    "events": "how many events and alerts were recorded",
}


def reference(it: Instance) -> str:
    """Return the expected answer in the benchmark's form: what the response should state, and by whose work.

    The wording is one for both banks, since no auditor is shown it unless it asks for it.
    """
    out = []
    for kind, slots in expected(it):
        facts = "; ".join(f"{name}: {value}" for name, value in slots.items())
        what = f"say {_NEGATIVE[kind]}" if kind in _NEGATIVE else f"state {_WHAT[kind]}"
        out.append(f"The expected response should {what} ({facts}), by the work of {_AGENTS.get(kind, 'IoT')}.")
    return " ".join(out)
