"""How the oracle answers questions about assets, sensors and their histories, with IoT and TSFM."""

from __future__ import annotations

from functools import partial

from trajaudit.testbeds.asset_ops import notes, observed, tasks
from trajaudit.testbeds.asset_ops.claims import got
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.mandates import IOT, TSFM
from trajaudit.testbeds.asset_ops.script import Script
from trajaudit.testbeds.replay import Arguments, Course


def asset_list(s: Script) -> None:
    s.plan((IOT, "assets"))
    tasks.list_assets(s)
    s.finish(IOT, tasks.claims_of(s.it, observed.names), notes.listed(s.it))


def sensor_list(s: Script) -> None:
    s.plan((IOT, "sensors"))
    tasks.list_sensors(s)
    s.finish(IOT, tasks.claims_of(s.it, observed.sensors))


def one_week(s: Script) -> None:
    s.plan((IOT, "statistics"))
    tasks.list_sensors(s)
    tasks.fetch_history(s)
    s.use(IOT, "statistics", "statistics", "statistics", "file_name", tasks.column(s.it, "column"), notes.WRITTEN)
    s.finish(IOT, tasks.claims_of(s.it, observed.statistic), notes.read_off(s.it))


def comparison(s: Script) -> None:
    it = s.it
    s.plan((IOT, "statistics"))
    tasks.list_sensors(s)
    s.act(IOT, "other", "sensors_of_other", "sensors", tasks.fixed(site_name=it.site, assetnum=it.other))
    s.act(IOT, "other.read", "read", "jsonreader", tasks.file_of("other"))
    for subject, asset in enumerate((it.asset, it.other)):
        tasks.fetch_history(s, subject, asset)
    for subject in (0, 1):
        s.act(IOT, "statistics", "statistics", "statistics", partial(_of_subject, it, subject), None, subject)
    s.finish(IOT, tasks.claims_of(it, observed.comparison))


def _of_subject(it: Instance, subject: int, course: Course) -> Arguments:
    return {"file_name": got(course, "history", subject)["file_path"], "column": it.sensor}


def anomalies(s: Script) -> None:
    s.plan((IOT, "data"), (TSFM, "analyse"))
    tasks.fetch(s)
    tasks.detect(s)


def forecast(s: Script) -> None:
    it = s.it
    s.plan((IOT, "data"), (TSFM, "predict"))
    tasks.fetch(s)
    s.act(TSFM, "models", "models", "tsfm_models", tasks.fixed())
    more = tasks.fixed(target_column=it.sensor, model_checkpoint=it.model)
    s.use(TSFM, "forecast", "forecast", "tsfm_forecasting", "dataset_path", more, notes.WRITTEN)
    tasks.read_back(s, "forecast")
    s.finish(TSFM, tasks.claims_of(it, observed.forecast, observed.readback), notes.FORESEEN)


def no_asset(s: Script) -> None:
    s.plan((IOT, "sensors"))
    tasks.list_assets(s)
    s.finish(IOT, tasks.claims_of(s.it, observed.names), notes.listed(s.it))


def no_sensor(s: Script) -> None:
    s.plan((IOT, "statistics"))
    tasks.list_sensors(s)
    s.finish(IOT, tasks.claims_of(s.it, observed.sensors))


def no_data(s: Script) -> None:
    s.plan((IOT, "statistics"))
    tasks.fetch(s)
