"""The oracle: how the scripted agents answer each family of questions, keeping the procedure.

They know the question and what tools have answered, and nothing of the instance behind them: a path comes from the
call that wrote the file, a code from the list of failure modes, a decision from the count that the detector returned.
That they break no rule and reach the expected answer on every family is computed by a test, not assumed.

What varies between healthy runs is what may: whether the assets of the site are listed first, whether a result is read
back, whether the answer says what it rests on, which services fail for a moment and whether a file has vanished.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from trajaudit.testbeds.asset_ops import observed
from trajaudit.testbeds.asset_ops.claims import Claim, args_of, due, got, reading, side
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.mandates import FSMR, IOT, TSFM, WO
from trajaudit.testbeds.asset_ops.script import Claims, Note, Script
from trajaudit.testbeds.asset_ops.wording import bank
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Course, Late

_MAIN = {
    **{"asset_list": ("assets",), "sensor_list": ("sensors",), "statistic": ("stat",), "trend": ("trend",)},
    **{"limit": ("limit",), "comparison": ("compare",), "anomalies": ("anomalies", "calm"), "forecast": ("forecast",)},
    **{"inspection": ("anomalies", "calm", "decision", "created"), "failure_modes": ("modes",), "signs": ("mapping",)},
    **{"detectable": ("detectable",), "order": ("created",), "bundling": ("bundled",), "events": ("events",)},
    **{"no_asset": ("no_asset",), "no_sensor": ("no_sensor",), "no_data": ("no_data",), "no_service": ()},
}
"""The claims that answer a family's question; that a tool failed or that there is no data is always worth saying."""


def oracle_script(it: Instance) -> list[Call]:
    """Return the oracle's calls for an instance."""
    script = Script(it)
    _FAMILIES[it.family](script)
    script.summary((*_MAIN[it.family], "failed", "no_data"))
    return script.calls


def _fixed(**args: object) -> Late:
    return lambda course: dict(args)


def _claims(it: Instance, *kinds: Callable[[Instance, Course], list[Claim]]) -> Claims:
    return lambda course: [claim for kind in kinds for claim in kind(it, course)]


def _file(stage: str) -> Late:
    return lambda course: {"file_name": (got(course, stage) or {}).get("file_path", "")}


def _assets(s: Script) -> None:
    s.act(IOT, "assets", "assets", "assets", _fixed(site_name=s.it.site))
    s.act(IOT, "assets.read", "read", "jsonreader", _file("assets"))


def _sensors(s: Script) -> None:
    """List the sensors of the asset, in some runs after the assets of the site."""
    it = s.it
    if "assets" in it.habits:
        _assets(s)
    note = _listed(it) if "assets" in it.habits else None
    s.act(IOT, "sensors", "sensors", "sensors", _fixed(site_name=it.site, assetnum=it.asset), note)
    s.act(IOT, "sensors.read", "read", "jsonreader", _file("sensors"), _counted("sensors", "sensors", "total_sensors"))


def _history(s: Script, subject: int | None = None, asset: str = "", note: Note | None = None) -> None:
    it = s.it
    args = _fixed(site_name=it.site, assetnum=asset or it.asset, sensor=it.sensor, start=it.week)
    s.act(IOT, "history", "history", "history", args, note or _fitted(it), subject)


def _column(it: Instance, field: str) -> Late:
    return _fixed(**{field: it.sensor})


def _listed(it: Instance) -> Note:
    def note(course: Course) -> Claim | None:
        here = got(course, "assets.read")
        return Claim("listed", {"count": str(len(here)), "site": it.site}) if here else None

    return note


def _counted(kind: str, stage: str, field: str, **slots: str) -> Note:
    """Return a note of a number that the last call showed."""

    def note(course: Course) -> Claim | None:
        shown = got(course, stage)
        return Claim(kind, {"count": str(shown[field]), **slots}) if shown else None

    return note


def _fitted(it: Instance) -> Note:
    def note(course: Course) -> Claim | None:
        fitted = got(course, "sensors.read")
        return Claim("installed", {"sensor": it.sensor, "asset": it.asset}) if fitted and it.sensor in fitted else None

    return note


def _written(course: Course) -> Claim | None:
    fetched = got(course, "history")
    return Claim("file", {"file": fetched["file_path"]}) if fetched else None


def _read_off(it: Instance) -> Note:
    """Return a note of the statistic, or in the limit family of its side of the limit."""

    def note(course: Course) -> Claim | None:
        shown = got(course, "statistics")
        if shown is None:
            return None
        if it.family == "limit":
            value, limit = reading(shown["mean"]), reading(it.limit / 100)
            return Claim("side", {"value": value, "limit": limit, "unit": shown["unit"], "side": side(value, limit)})
        return Claim("stat", {"stat": it.stat, "value": reading(shown[it.stat]), "unit": shown["unit"]})

    return note


def _foreseen(course: Course) -> Claim | None:
    shown = got(course, "forecast")
    return Claim("forecast", {"value": reading(shown["forecast_mean"]), "unit": shown["unit"]}) if shown else None


def _catalogued(it: Instance) -> Note:
    def note(course: Course) -> Claim | None:
        shown = got(course, "modes")
        known = [mode["failure_mode"] for mode in shown["failure_modes"]] if shown else []
        return Claim("mode", {"mode": it.mode, "asset": it.asset}) if it.mode in known else None

    return note


def _asset_list(s: Script) -> None:
    s.plan((IOT, "assets"))
    _assets(s)
    s.finish(IOT, _claims(s.it, observed.names), _listed(s.it))


def _sensor_list(s: Script) -> None:
    s.plan((IOT, "sensors"))
    _sensors(s)
    s.finish(IOT, _claims(s.it, observed.sensors))


def _one_week(s: Script) -> None:
    s.plan((IOT, "statistics"))
    _sensors(s)
    _history(s)
    s.use(IOT, "statistics", "statistics", "statistics", "file_name", _column(s.it, "column"), _written)
    s.finish(IOT, _claims(s.it, observed.statistic), _read_off(s.it))


def _comparison(s: Script) -> None:
    it = s.it
    s.plan((IOT, "statistics"))
    _sensors(s)
    for subject, asset in enumerate((it.asset, it.other)):
        _history(s, subject, asset, None if subject == 0 else lambda course: None)
    for subject in (0, 1):
        s.act(IOT, "statistics", "statistics", "statistics", partial(_of_subject, it, subject), None, subject)
    s.finish(IOT, _claims(it, observed.comparison))


def _of_subject(it: Instance, subject: int, course: Course) -> Arguments:
    return {"file_name": got(course, "history", subject)["file_path"], "column": it.sensor}


def _fetch(s: Script) -> None:
    _sensors(s)
    _history(s)
    s.finish(IOT, _claims(s.it, observed.stored))


def _read_back(s: Script, stage: str) -> None:
    """Read the stored result once more, in some runs."""
    if "readback" in s.it.habits:
        path = _file(stage)
        s.act(TSFM, "readback", "readback", "jsonreader", lambda c: path(c) if got(c, stage) else None)


def _detect(s: Script) -> None:
    s.use(TSFM, "tsad", "tsad", "tsfm_anomaly_detection", "dataset_path", _column(s.it, "target_column"), _written)
    _read_back(s, "tsad")
    s.finish(TSFM, _claims(s.it, observed.anomalies, observed.readback), _counted("anomalies", "tsad", "total_anomalies"))


def _anomalies(s: Script) -> None:
    s.plan((IOT, "data"), (TSFM, "analyse"))
    _fetch(s)
    _detect(s)


def _forecast(s: Script) -> None:
    it = s.it
    s.plan((IOT, "data"), (TSFM, "predict"))
    _fetch(s)
    s.act(TSFM, "models", "models", "tsfm_models", _fixed())
    more = _fixed(target_column=it.sensor, model_checkpoint=it.model)
    s.use(TSFM, "forecast", "forecast", "tsfm_forecasting", "dataset_path", more, _written)
    _read_back(s, "forecast")
    s.finish(TSFM, _claims(it, observed.forecast, observed.readback), _foreseen)


def _list_orders(s: Script) -> None:
    s.act(WO, "orders", "orders", "list_work_orders", _fixed(site_name=s.it.site, assetnum=s.it.asset))


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


def _inspection(s: Script) -> None:
    it = s.it
    s.plan((IOT, "data"), (TSFM, "analyse"), (WO, "raise"))
    _fetch(s)
    _detect(s)
    _list_orders(s)
    s.act(WO, "create", "create", "create_work_order", raising(it), _counted("orders", "orders", "total_open", asset=it.asset))

    def advice(_: Instance, course: Course) -> list[Claim]:
        return [Claim("advice", {"asset": it.asset})] if "advice" in it.habits and got(course, "create") else []

    s.finish(WO, _claims(it, observed.decision, observed.created, observed.checked, advice))


def _modes(s: Script) -> None:
    s.act(FSMR, "modes", "modes", "get_failure_modes", _fixed(asset_name=s.it.asset))


def _failure_modes(s: Script) -> None:
    s.plan((FSMR, "modes"))
    _modes(s)
    s.finish(FSMR, _claims(s.it, observed.modes), _catalogued(s.it))


def _signs(s: Script) -> None:
    it = s.it
    s.plan((IOT, "sensors"), (FSMR, "signs"))
    _sensors(s)
    s.finish(IOT, _claims(it, observed.sensors))
    _modes(s)

    def asked(course: Course) -> Arguments:
        shown = got(course, "modes") or {"failure_modes": []}
        known = [mode["failure_mode"] for mode in shown["failure_modes"]]
        modes = [it.mode] if it.family == "signs" else known
        return {"asset_name": it.asset, "failure_modes": modes, "sensors": list(got(course, "sensors.read") or ())}

    s.act(FSMR, "mapping", "mapping", "get_sensor_mapping", asked, _catalogued(it))
    s.finish(FSMR, _claims(it, observed.signs))


def _raise(s: Script) -> None:
    it = s.it
    s.plan((FSMR, "modes"), (WO, "raise"))
    _modes(s)
    s.finish(FSMR, _claims(it, observed.modes), _catalogued(it))
    _list_orders(s)

    def args(course: Course) -> Arguments:
        codes = {mode["failure_mode"]: mode["code"] for mode in got(course, "modes")["failure_modes"]}
        return _order(it, codes[it.mode], bank(it.wording).say("text.mode", Draw(f"{it.key}|order"), mode=it.mode))

    s.act(WO, "create", "create", "create_work_order", args, _counted("orders", "orders", "total_open", asset=it.asset))
    s.finish(WO, _claims(it, observed.created, observed.checked))


def _bundling(s: Script) -> None:
    it = s.it
    s.plan((WO, "orders"))
    _list_orders(s)

    def args(course: Course) -> Arguments:
        opened = got(course, "orders")["work_orders"]
        return {"work_orders": [order["wo_id"] for order in opened if order["opened"] >= it.since]}

    s.act(WO, "bundle", "bundle", "bundle_work_orders", args, _counted("orders", "orders", "total_open", asset=it.asset))
    s.finish(WO, _claims(it, observed.open_orders, observed.bundled))


def _events(s: Script) -> None:
    it = s.it
    s.plan((WO, "events"))
    s.act(WO, "events", "events", "get_events", _fixed(site_name=it.site, assetnum=it.asset, start=it.week))
    s.finish(WO, _claims(it, observed.events), _counted("events", "events", "total_events"))


def _no_asset(s: Script) -> None:
    s.plan((IOT, "sensors"))
    _assets(s)
    s.finish(IOT, _claims(s.it, observed.names), _listed(s.it))


def _no_sensor(s: Script) -> None:
    s.plan((IOT, "statistics"))
    _sensors(s)
    s.finish(IOT, _claims(s.it, observed.sensors))


def _no_data(s: Script) -> None:
    s.plan((IOT, "statistics"))
    _fetch(s)


_FAMILIES: dict[str, Callable[[Script], None]] = {
    **{"asset_list": _asset_list, "sensor_list": _sensor_list, "statistic": _one_week, "trend": _one_week},
    **{"limit": _one_week, "comparison": _comparison, "anomalies": _anomalies, "forecast": _forecast},
    **{"inspection": _inspection, "failure_modes": _failure_modes, "signs": _signs, "detectable": _signs},
    **{"order": _raise, "bundling": _bundling, "events": _events, "no_asset": _no_asset, "no_sensor": _no_sensor},
    **{"no_data": _no_data, "no_service": _anomalies},
}
