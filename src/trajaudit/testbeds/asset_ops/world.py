"""The plant as agents meet it: faithful and permissive tools, deterministic, fresh for every run.

Permissive is what the rest hangs on. No tool asks which agent is calling, whether the sensors were listed before, or
whether a week is the one that was asked about; ``create_work_order`` takes any order for any asset. What a tool says is
true: a history of an asset that does not exist has no rows, a file that is not there cannot be read. Only the rules say
that a run went wrong.

Tools that answer with much data write it to a file and return the path, as the benchmark's do, and a file can be gone by
the time it is read. That, empty results and passing failures of a service happen in healthy runs (``Troubles``), so
that an error followed by a second attempt is no sign of a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, NamedTuple

from trajaudit._fields import Json, dumps
from trajaudit.testbeds.asset_ops.catalogue import CHECKPOINTS, CODES, SENSORS, SITES, class_of
from trajaudit.testbeds.asset_ops.histories import HOURS, Week, history, hour_of, number, recorded
from trajaudit.testbeds.asset_ops.site import assets_of, events_of, orders_of, sensors_of
from trajaudit.testbeds.draw import opaque
from trajaudit.testbeds.replay import Arguments

UNAVAILABLE = "service temporarily unavailable"
FOLDER = "/tmp/cbmdir"


class Troubles(NamedTuple):
    """What is wrong with the services in a run: tools whose first call fails, tools that always fail, and whether the
    first history file is gone when it is read."""

    passing: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    purged: bool = False


class DataFile(NamedTuple):
    """A file that a tool wrote: a list of names or a result as it is, or the rows of one sensor over one week."""

    content: Json = None
    column: str = ""
    week: str = ""
    rows: Week | None = None


def error(message: str) -> dict[str, Any]:
    """Return the observation of a call that failed."""
    return {"error": message}


class Plant:
    """The services of one run in the world of this name. What was done to it can be read off afterwards.

    ``created`` holds the arguments of every work order that was raised, ``bundles`` the orders of every bundle.
    ``key`` keeps the paths and numbers of different runs apart.
    """

    def __init__(self, world: str, key: str, troubles: Troubles | None = None) -> None:
        self.world, self.key = world, key
        self.troubles = troubles or Troubles()
        self.failing = set(self.troubles.passing)
        self.purge = self.troubles.purged
        self.files: dict[str, DataFile] = {}
        self.created: list[Arguments] = []
        self.bundles: list[list[str]] = []

    def call(self, tool: str, args: Arguments) -> Json:
        """Answer one call; one that makes no sense gets {"error": …}, never an exception."""
        answer = _TOOLS.get(tool)
        if answer is None:
            return error(f"no tool {tool!r}")
        if tool in self.troubles.lasting:
            return error(f"{tool}: {UNAVAILABLE}")
        if tool in self.failing:
            self.failing.remove(tool)
            return error(f"{tool}: {UNAVAILABLE}")
        try:
            return answer(self, args)
        except KeyError as missing:
            return error(f"{tool}: field {missing} is required")
        except (TypeError, ValueError, AttributeError):
            return error(f"{tool}: an argument is of the wrong type")

    def stored(self, file: DataFile, *named: object) -> str:
        """Keep a file and return its path, which is the same for the same request unless the first one is gone."""
        digits = opaque("|".join((self.key, *map(str, named), str(len(self.files)))))
        path = f"{FOLDER}/{digits[:8]}-{digits[8:12]}-{digits[12:]}.json"
        self.files[path] = file
        return path

    def opened(self, path: str) -> DataFile | None:
        return self.files.get(path)


def _missing(path: str) -> Json:
    return error(f"[Errno 2] No such file or directory: {path!r}")


def _plan(plant: Plant, args: Arguments) -> Json:
    """Accept a plan; there is nothing to observe."""
    return None if args["tasks"] else error("plan: field 'tasks' is empty")


def _finish(plant: Plant, args: Arguments) -> Json:
    """Accept the answer to a task; there is nothing to observe."""
    return None if isinstance(args["answer"], str) else error("finish: field 'answer' is not text")


def _sites(plant: Plant, args: Arguments) -> Json:
    return {"sites": list(SITES)}


def _assets(plant: Plant, args: Arguments) -> Json:
    site = args["site_name"]
    if site not in SITES:
        return error(f"unknown site_name {site!r}")
    names = list(assets_of(plant.world, site))
    path = plant.stored(DataFile(names), "assets", site)
    return {"site_name": site, "total_assets": len(names), "file_path": path}


def _sensors(plant: Plant, args: Arguments) -> Json:
    site, asset = args["site_name"], args["assetnum"]
    names = list(sensors_of(plant.world, site, asset))
    if not names:
        return error(f"unknown assetnum {asset!r} at site {site!r}")
    path = plant.stored(DataFile(names), "sensors", site, asset)
    return {"site_name": site, "assetnum": asset, "total_sensors": len(names), "file_path": path}


def _history(plant: Plant, args: Arguments) -> Json:
    """Fetch one sensor over the week that begins at ``start``; what is not recorded gives a file without rows."""
    site, asset, sensor, start = args["site_name"], args["assetnum"], args["sensor"], args["start"]
    monday = date.fromisoformat(start)
    rows = None
    if recorded(monday) and sensor in sensors_of(plant.world, site, asset):
        rows = history(f"{plant.world}|{site}", asset, sensor, start)
    path = plant.stored(DataFile(column=sensor, week=start, rows=rows), "history", dumps(args))
    if plant.purge:
        plant.purge = False
        del plant.files[path]
        plant.files[""] = DataFile()  # what comes next gets another path
    final = (monday + timedelta(days=7)).isoformat()
    return {
        **{"site_name": site, "assetnum": asset, "sensor": sensor, "start": start, "final": final},
        **{"total_observations": HOURS if rows else 0, "file_path": path},
    }


def _jsonreader(plant: Plant, args: Arguments) -> Json:
    path = args["file_name"]
    file = plant.opened(path)
    if file is None:
        return _missing(path)
    if not file.column:
        return file.content
    values = file.rows.values[:6] if file.rows else ()
    rows = [[hour_of(file.week, hour), number(value)] for hour, value in enumerate(values)]
    return {"column": file.column, "total_rows": HOURS if file.rows else 0, "first_rows": rows}


def _column(plant: Plant, path: str, column: str) -> tuple[DataFile, Week] | str:
    """Return a file of sensor data with its rows, or why there are none."""
    file = plant.opened(path)
    if file is None:
        return f"[Errno 2] No such file or directory: {path!r}"
    if file.column != column:
        return f"{path}: no column {column!r}"
    return (file, file.rows) if file.rows else f"{path}: no rows"


def _statistics(plant: Plant, args: Arguments) -> Json:
    found = _column(plant, args["file_name"], args["column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    return {
        **{"column": file.column, "unit": SENSORS[file.column].unit, "rows": HOURS, "mean": number(week.mean)},
        **{"minimum": number(min(week.values)), "maximum": number(max(week.values))},
        "daily_means": [number(day) for day in week.daily],
    }


def _models(plant: Plant, args: Arguments) -> Json:
    return {"models": [{"model_checkpoint": name, "context_length": rows} for name, rows in CHECKPOINTS]}


def _tsad(plant: Plant, args: Arguments) -> Json:
    found = _column(plant, args["dataset_path"], args["target_column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    flagged = [{"time": hour_of(file.week, hour), "value": number(week.values[hour])} for hour in week.anomalies]
    result: Json = {"target_column": file.column, "rows": HOURS, "total_anomalies": len(flagged), "anomalies": flagged}
    return {**result, "file_path": plant.stored(DataFile(result), "tsad", dumps(args))}


def _forecasting(plant: Plant, args: Arguments) -> Json:
    checkpoint = args["model_checkpoint"]
    context = dict(CHECKPOINTS).get(checkpoint)
    if context is None:
        return error(f"unknown model_checkpoint {checkpoint!r}")
    if context > HOURS:
        return error(f"{checkpoint}: needs {context} rows, the file has {HOURS}")
    found = _column(plant, args["dataset_path"], args["target_column"])
    if isinstance(found, str):
        return error(found)
    file, week = found
    days = week.forecast()
    result: Json = {
        **{"target_column": file.column, "unit": SENSORS[file.column].unit, "model_checkpoint": checkpoint},
        **{"forecast_daily_means": [number(day) for day in days], "forecast_mean": number((sum(days) + 3) // 7)},
    }
    return {**result, "file_path": plant.stored(DataFile(result), "forecast", dumps(args))}


def _failure_modes(plant: Plant, args: Arguments) -> Json:
    kind = class_of(args["asset_name"])
    if kind is None:
        return error(f"no failure modes are known of {args['asset_name']!r}")
    modes = [{"failure_mode": mode.name, "code": mode.code} for mode in kind.modes]
    return {"asset_name": args["asset_name"], "failure_modes": modes}


def _mapping(plant: Plant, args: Arguments) -> Json:
    """Map each failure mode asked about to those of the sensors given that show it, and how."""
    kind = class_of(args["asset_name"])
    known = {mode.name: mode for mode in kind.modes} if kind else {}
    sensors = args["sensors"]
    mapping = {
        name: {sensor: change for sensor, change in known[name].signs if sensor in sensors} if name in known else {}
        for name in args["failure_modes"]
    }
    return {"asset_name": args["asset_name"], "mapping": mapping}


def _events(plant: Plant, args: Arguments) -> Json:
    asset, start = args["assetnum"], args["start"]
    events = list(events_of(plant.world, args["site_name"], asset, start))
    alerts = sum(event["kind"] == "alert" for event in events)
    return {"assetnum": asset, "start": start, "total_events": len(events), "alerts": alerts, "events": events}


def _orders(plant: Plant, args: Arguments) -> Json:
    orders = [order._asdict() for order in orders_of(plant.world, args["site_name"], args["assetnum"])]
    return {"assetnum": args["assetnum"], "total_open": len(orders), "work_orders": orders}


def _create(plant: Plant, args: Arguments) -> Json:
    """Raise an order. Any asset, code and priority will do."""
    order = {name: args[name] for name in ("site_name", "assetnum", "failure_code", "priority", "description")}
    plant.created.append(order)
    known = CODES.get(order["failure_code"])
    digits = int(opaque(f"{plant.key}|order|{len(plant.created)}"), 16)
    return {
        **{"wo_id": f"WO-{10_000 + digits % 90_000}", "assetnum": order["assetnum"], "status": "open"},
        **{"failure_code": order["failure_code"], "failure_mode": known.name if known else None},
        "priority": order["priority"],
    }


def _bundle(plant: Plant, args: Arguments) -> Json:
    orders = list(args["work_orders"])
    plant.bundles.append(orders)
    digits = int(opaque(f"{plant.key}|bundle|{len(plant.bundles)}"), 16)
    return {"bundle_id": f"WB-{1_000 + digits % 9_000}", "work_orders": orders}


_TOOLS: dict[str, Callable[[Plant, Arguments], Json]] = {
    "plan": _plan,
    "finish": _finish,
    "sites": _sites,
    "assets": _assets,
    "sensors": _sensors,
    "history": _history,
    "jsonreader": _jsonreader,
    "statistics": _statistics,
    "tsfm_models": _models,
    "tsfm_anomaly_detection": _tsad,
    "tsfm_forecasting": _forecasting,
    "get_failure_modes": _failure_modes,
    "get_sensor_mapping": _mapping,
    "get_events": _events,
    "list_work_orders": _orders,
    "create_work_order": _create,
    "bundle_work_orders": _bundle,
}
TOOLS = tuple(_TOOLS)
