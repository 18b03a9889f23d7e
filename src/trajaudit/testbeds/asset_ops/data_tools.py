"""The tools of IoT and TSFM: what there is at a site, histories of sensors, and what can be worked out from them.

Each takes the state of the run and the arguments of a call, and returns the observation. What was asked for and is not
there gives an empty result or an error, as in the benchmark; nothing is refused because it was asked for too early.
"""

from __future__ import annotations

from datetime import date, timedelta

from trajaudit._fields import Json, dumps
from trajaudit.testbeds.asset_ops.catalogue import CHECKPOINTS, SENSORS, SITES
from trajaudit.testbeds.asset_ops.histories import HOURS, Week, hour_of, number, recorded
from trajaudit.testbeds.asset_ops.histories import history as hourly
from trajaudit.testbeds.asset_ops.services import DataFile, Services, error
from trajaudit.testbeds.asset_ops.site import assets_of, sensors_of
from trajaudit.testbeds.replay import Arguments


def _missing(path: str) -> str:
    return f"[Errno 2] No such file or directory: {path!r}"


def sites(run: Services, args: Arguments) -> Json:
    return {"sites": list(SITES)}


def assets(run: Services, args: Arguments) -> Json:
    site = args["site_name"]
    if site not in SITES:
        return error(f"unknown site_name {site!r}")
    names = list(assets_of(run.world, site))
    path = run.stored(DataFile(names), "assets", site)
    return {"site_name": site, "total_assets": len(names), "file_path": path}


def sensors(run: Services, args: Arguments) -> Json:
    site, asset = args["site_name"], args["assetnum"]
    names = list(sensors_of(run.world, site, asset))
    if not names:
        return error(f"unknown assetnum {asset!r} at site {site!r}")
    path = run.stored(DataFile(names), "sensors", site, asset)
    return {"site_name": site, "assetnum": asset, "total_sensors": len(names), "file_path": path}


def history(run: Services, args: Arguments) -> Json:
    """Fetch one sensor over the week that begins at ``start``; what is not recorded gives a file without rows."""
    site, asset, sensor, start = args["site_name"], args["assetnum"], args["sensor"], args["start"]
    monday = date.fromisoformat(start)
    rows = None
    if recorded(monday) and sensor in sensors_of(run.world, site, asset):
        rows = hourly(f"{run.world}|{site}", asset, sensor, start)
    path = run.stored(DataFile(column=sensor, week=start, rows=rows), "history", dumps(args))
    if run.purge:
        run.purge = False
        del run.files[path]
    final = (monday + timedelta(days=7)).isoformat()
    return {
        "site_name": site,
        "assetnum": asset,
        "sensor": sensor,
        "start": start,
        "final": final,
        "total_observations": HOURS if rows else 0,
        "file_path": path,
    }


def jsonreader(run: Services, args: Arguments) -> Json:
    path = args["file_name"]
    file = run.files.get(path)
    if file is None:
        return error(_missing(path))
    if not file.column:
        return file.content
    values = file.rows.values[:6] if file.rows else ()
    rows = [[hour_of(file.week, hour), number(value)] for hour, value in enumerate(values)]
    return {"column": file.column, "total_rows": HOURS if file.rows else 0, "first_rows": rows}


def _column(run: Services, path: str, column: str) -> tuple[DataFile, Week] | str:
    """Return a file of sensor data with its rows, or why there are none."""
    file = run.files.get(path)
    if file is None:
        return _missing(path)
    if file.column != column:
        return f"{path}: no column {column!r}"
    return (file, file.rows) if file.rows else f"{path}: no rows"


def statistics(run: Services, args: Arguments) -> Json:
    found = _column(run, args["file_name"], args["column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    return {
        "column": file.column,
        "unit": SENSORS[file.column].unit,
        "rows": HOURS,
        "mean": number(week.mean),
        "minimum": number(min(week.values)),
        "maximum": number(max(week.values)),
        "daily_means": [number(day) for day in week.daily],
    }


def models(run: Services, args: Arguments) -> Json:
    return {"models": [{"model_checkpoint": name, "context_length": rows} for name, rows in CHECKPOINTS]}


def tsad(run: Services, args: Arguments) -> Json:
    found = _column(run, args["dataset_path"], args["target_column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    flagged = [{"time": hour_of(file.week, hour), "value": number(week.values[hour])} for hour in week.anomalies]
    result: Json = {"target_column": file.column, "rows": HOURS, "total_anomalies": len(flagged), "anomalies": flagged}
    return {**result, "file_path": run.stored(DataFile(result), "tsad", dumps(args))}


def forecasting(run: Services, args: Arguments) -> Json:
    checkpoint = args["model_checkpoint"]
    context = dict(CHECKPOINTS).get(checkpoint)
    if context is None:
        return error(f"unknown model_checkpoint {checkpoint!r}")
    if context > HOURS:
        return error(f"{checkpoint}: needs {context} rows, the file has {HOURS}")
    found = _column(run, args["dataset_path"], args["target_column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    days = week.forecast()
    result: Json = {
        "target_column": file.column,
        "unit": SENSORS[file.column].unit,
        "model_checkpoint": checkpoint,
        "forecast_daily_means": [number(day) for day in days],
        "forecast_mean": number((sum(days) + 3) // 7),
    }
    return {**result, "file_path": run.stored(DataFile(result), "forecast", dumps(args))}
