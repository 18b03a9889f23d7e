"""What the agents do in a row, whatever the question: list assets and sensors, fetch a history, detect, read back.

These are the pieces that the families of questions are put together from.
"""

from __future__ import annotations

from collections.abc import Callable

from trajaudit.testbeds.asset_ops import notes, observed
from trajaudit.testbeds.asset_ops.claims import Claim, got
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.mandates import IOT, TSFM
from trajaudit.testbeds.asset_ops.script import Claims, Script
from trajaudit.testbeds.replay import Course, Late


def fixed(**args: object) -> Late:
    return lambda course: dict(args)


def claims_of(it: Instance, *kinds: Callable[[Instance, Course], list[Claim]]) -> Claims:
    return lambda course: [claim for kind in kinds for claim in kind(it, course)]


def file_of(stage: str) -> Late:
    return lambda course: {"file_name": (got(course, stage) or {}).get("file_path", "")}


def list_assets(s: Script) -> None:
    s.act(IOT, "assets", "assets", "assets", fixed(site_name=s.it.site))
    s.act(IOT, "assets.read", "read", "jsonreader", file_of("assets"))


def list_sensors(s: Script) -> None:
    """List the sensors of the asset, in some runs after the assets of the site."""
    it = s.it
    if "assets" in it.habits:
        list_assets(s)
    note = notes.listed(it) if "assets" in it.habits else None
    s.act(IOT, "sensors", "sensors", "sensors", fixed(site_name=it.site, assetnum=it.asset), note)
    s.act(
        IOT,
        "sensors.read",
        "read",
        "jsonreader",
        file_of("sensors"),
        notes.counted("sensors", "sensors", "total_sensors"),
    )


def fetch_history(s: Script, subject: int | None = None, asset: str = "") -> None:
    it = s.it
    args = fixed(site_name=it.site, assetnum=asset or it.asset, sensor=it.sensor, start=it.week)
    s.act(IOT, "history", "history", "history", args, None if subject else notes.fitted(it), subject)


def column(it: Instance, field: str) -> Late:
    return fixed(**{field: it.sensor})


def fetch(s: Script) -> None:
    list_sensors(s)
    fetch_history(s)
    s.finish(IOT, claims_of(s.it, observed.stored))


def read_back(s: Script, stage: str) -> None:
    """Read the stored result once more, in some runs."""
    if "readback" in s.it.habits:
        path = file_of(stage)
        s.act(TSFM, "readback", "readback", "jsonreader", lambda c: path(c) if got(c, stage) else None)


def detect(s: Script) -> None:
    s.use(
        TSFM,
        "tsad",
        "tsad",
        "tsfm_anomaly_detection",
        "dataset_path",
        column(s.it, "target_column"),
        notes.WRITTEN,
    )
    read_back(s, "tsad")
    s.finish(
        TSFM,
        claims_of(s.it, observed.anomalies, observed.readback),
        notes.counted("anomalies", "tsad", "total_anomalies"),
    )
