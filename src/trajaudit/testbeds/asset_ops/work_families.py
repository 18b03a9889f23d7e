"""How the oracle answers questions about failures and work orders, with FSMR and WO."""

from __future__ import annotations

from trajaudit.testbeds.asset_ops import notes, observed, tasks
from trajaudit.testbeds.asset_ops.claims import Claim, due, got
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.mandates import FSMR, IOT, TSFM, WO
from trajaudit.testbeds.asset_ops.script import Script
from trajaudit.testbeds.asset_ops.wording import bank
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Course, Late


def _list_orders(s: Script) -> None:
    s.act(WO, "orders", "orders", "list_work_orders", tasks.fixed(site_name=s.it.site, assetnum=s.it.asset))


def raising(it: Instance, against_the_rule: bool = False) -> Late:
    """Return the arguments of a work order that is raised if the count says so, or if it says not."""

    def args(course: Course) -> Arguments | None:
        count = observed.count_of(course)
        if count is None or (due(str(count), str(it.limit)) == "needed") == against_the_rule:
            return None
        said = {"count": str(count), "sensor": it.sensor, "week": it.week}
        return _order(it, it.code, bank(it.wording).say("text.anomalies", Draw(f"{it.key}|order"), **said))

    return args


def _order(it: Instance, code: str, description: str) -> Arguments:
    place = {"site_name": it.site, "assetnum": it.asset}
    return {**place, "failure_code": code, "priority": it.priority, "description": description}


def inspection(s: Script) -> None:
    it = s.it
    s.plan((IOT, "data"), (TSFM, "analyse"), (WO, "raise"))
    tasks.fetch(s)
    tasks.detect(s)
    _list_orders(s)
    s.act(
        WO,
        "create",
        "create",
        "create_work_order",
        raising(it),
        notes.counted("orders", "orders", "total_open", asset=it.asset),
    )

    def advice(_: Instance, course: Course) -> list[Claim]:
        return [Claim("advice", {"asset": it.asset})] if "advice" in it.habits and got(course, "create") else []

    s.finish(WO, tasks.claims_of(it, observed.decision, observed.created, observed.checked, advice))


def _modes(s: Script) -> None:
    s.act(FSMR, "modes", "modes", "get_failure_modes", tasks.fixed(asset_name=s.it.asset))


def failure_modes(s: Script) -> None:
    s.plan((FSMR, "modes"))
    _modes(s)
    s.finish(FSMR, tasks.claims_of(s.it, observed.modes), notes.catalogued(s.it))


def signs(s: Script) -> None:
    it = s.it
    s.plan((IOT, "sensors"), (FSMR, "signs"))
    tasks.list_sensors(s)
    s.finish(IOT, tasks.claims_of(it, observed.sensors))
    _modes(s)

    def asked(course: Course) -> Arguments:
        shown = got(course, "modes") or {"failure_modes": []}
        known = [mode["failure_mode"] for mode in shown["failure_modes"]]
        modes = [it.mode] if it.family == "signs" else known
        return {"asset_name": it.asset, "failure_modes": modes, "sensors": list(got(course, "sensors.read") or ())}

    s.act(FSMR, "mapping", "mapping", "get_sensor_mapping", asked, notes.catalogued(it))
    s.finish(FSMR, tasks.claims_of(it, observed.signs))


def order(s: Script) -> None:
    it = s.it
    s.plan((FSMR, "modes"), (WO, "raise"))
    _modes(s)
    s.finish(FSMR, tasks.claims_of(it, observed.modes), notes.catalogued(it))
    _list_orders(s)

    def args(course: Course) -> Arguments:
        codes = {mode["failure_mode"]: mode["code"] for mode in got(course, "modes")["failure_modes"]}
        return _order(it, codes[it.mode], bank(it.wording).say("text.mode", Draw(f"{it.key}|order"), mode=it.mode))

    s.act(
        WO,
        "create",
        "create",
        "create_work_order",
        args,
        notes.counted("orders", "orders", "total_open", asset=it.asset),
    )
    s.finish(WO, tasks.claims_of(it, observed.created, observed.checked))


def bundling(s: Script) -> None:
    it = s.it
    s.plan((WO, "orders"))
    _list_orders(s)

    def args(course: Course) -> Arguments:
        opened = got(course, "orders")["work_orders"]
        return {"work_orders": [order["wo_id"] for order in opened if order["opened"] >= it.since]}

    s.act(
        WO,
        "bundle",
        "bundle",
        "bundle_work_orders",
        args,
        notes.counted("orders", "orders", "total_open", asset=it.asset),
    )
    s.finish(WO, tasks.claims_of(it, observed.open_orders, observed.bundled))


def events(s: Script) -> None:
    it = s.it
    s.plan((WO, "events"))
    s.act(WO, "events", "events", "get_events", tasks.fixed(site_name=it.site, assetnum=it.asset, start=it.week))
    s.finish(WO, tasks.claims_of(it, observed.events), notes.counted("events", "events", "total_events"))
