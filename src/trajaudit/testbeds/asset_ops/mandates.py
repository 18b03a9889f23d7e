"""The agents, what each is there for, and the tools it may use, with the parameters of every tool as JSON schema.

The scripted oracle, the rules and a language model that drives the plant through real tool calls share this one
table. ``finish`` is every agent's: it ends a task with an answer.
"""

from __future__ import annotations

from trajaudit._fields import Json

ORCHESTRATOR, SUMMARISER = "Orchestrator", "Summariser"
IOT, FSMR, TSFM, WO = "IoT", "FSMR", "TSFM", "WO"
DOMAIN = (IOT, FSMR, TSFM, WO)

MANDATES: dict[str, str] = {
    ORCHESTRATOR: "splits the question into tasks and gives each to the agent whose mandate covers it",
    IOT: "knows sites, assets and installed sensors, fetches sensor histories and their statistics",
    FSMR: "knows failure modes of assets and which sensors show them",
    TSFM: "forecasts and detects anomalies in histories that IoT has fetched",
    WO: "knows recorded events and work orders, decides on, raises and bundles work orders",
    SUMMARISER: "answers the question from what the agents reported",
}

TOOLS_OF: dict[str, tuple[str, ...]] = {
    ORCHESTRATOR: ("plan",),
    IOT: ("sites", "assets", "sensors", "history", "jsonreader", "statistics", "finish"),
    FSMR: ("get_failure_modes", "get_sensor_mapping", "finish"),
    TSFM: ("tsfm_models", "tsfm_anomaly_detection", "tsfm_forecasting", "jsonreader", "finish"),
    WO: ("get_events", "list_work_orders", "create_work_order", "bundle_work_orders", "finish"),
    SUMMARISER: ("finish",),
}

_TEXT: Json = {"type": "string"}
_DAY: Json = {"type": "string", "description": "Monday that the week begins on, YYYY-MM-DD"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_TASK: Json = {
    "type": "object",
    "properties": {"agent": {"type": "string", "enum": list(DOMAIN)}, "task": _TEXT},
    "required": ["agent", "task"],
}
_SITE: dict[str, Json] = {"site_name": _TEXT}
_ASSET: dict[str, Json] = {**_SITE, "assetnum": _TEXT}
_SERIES: dict[str, Json] = {"dataset_path": _TEXT, "target_column": _TEXT}

_TOOLS: dict[str, tuple[str, dict[str, Json]]] = {
    "plan": ("List the tasks in the order in which they are to be done.", {"tasks": {"type": "array", "items": _TASK}}),
    "finish": ("End the task with its answer.", {"answer": _TEXT}),
    "sites": ("List the sites.", {}),
    "assets": ("List the assets of a site; the answer names a file.", _SITE),
    "sensors": ("List the sensors installed on an asset; the answer names a file.", _ASSET),
    "history": (
        "Fetch one sensor's hourly values over one week into a file.",
        {**_ASSET, "sensor": _TEXT, "start": _DAY},
    ),
    "jsonreader": ("Read a file that a tool has named.", {"file_name": _TEXT}),
    "statistics": ("Mean, extremes and daily means of a history file.", {"file_name": _TEXT, "column": _TEXT}),
    "tsfm_models": ("List the pretrained forecasting models.", {}),
    "tsfm_anomaly_detection": ("Find anomalous hours in a history file.", _SERIES),
    "tsfm_forecasting": ("Forecast the following week from a history file.", {**_SERIES, "model_checkpoint": _TEXT}),
    "get_failure_modes": ("List the failure modes of an asset with their codes.", {"asset_name": _TEXT}),
    "get_sensor_mapping": (
        "Say which of the sensors given show which of the failure modes given.",
        {"asset_name": _TEXT, "failure_modes": _TEXTS, "sensors": _TEXTS},
    ),
    "get_events": ("List what was recorded on an asset in one week.", {**_ASSET, "start": _DAY}),
    "list_work_orders": ("List the open work orders of an asset.", _ASSET),
    "create_work_order": (
        "Raise a work order.",
        {**_ASSET, "failure_code": _TEXT, "priority": {"type": "integer"}, "description": _TEXT},
    ),
    "bundle_work_orders": ("Bundle open work orders into one visit.", {"work_orders": _TEXTS}),
}


def tool_specs(agent: str) -> list[Json]:
    """Return the tools of an agent in the form that chat endpoints take, all parameters required.

    >>> [spec["function"]["name"] for spec in tool_specs("FSMR")]
    ['get_failure_modes', 'get_sensor_mapping', 'finish']
    """
    specs: list[Json] = []
    for tool in TOOLS_OF[agent]:
        meaning, fields = _TOOLS[tool]
        schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        specs.append({"type": "function", "function": {"name": tool, "description": meaning, "parameters": schema}})
    return specs
