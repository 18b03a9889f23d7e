"""The plant as agents meet it: faithful and permissive tools, deterministic, fresh for every run.

Permissive is what the rest hangs on. No tool asks which agent is calling, whether the sensors were listed before, or
whether a week is the one that was asked about; ``create_work_order`` takes any order for any asset. What a tool says is
true: a history of an asset that does not exist has no rows, a file that is not there cannot be read. Only the rules say
that a run went wrong.

Tools that answer with much data write it to a file and return the path, as the benchmark's do, and a file can be gone
by the time it is read. That, empty results and passing failures of a service happen in healthy runs (``Troubles``), so
that an error followed by a second attempt is no sign of a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops import data_tools, work_tools
from trajaudit.testbeds.asset_ops.services import Services, error
from trajaudit.testbeds.replay import Arguments

UNAVAILABLE = "service temporarily unavailable"


class Troubles(NamedTuple):
    """What is wrong with the services in a run: tools whose first call fails, tools that always fail, and whether the
    first history file is gone when it is read."""

    passing: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    purged: bool = False


class Plant(Services):
    """The services of one run in the world of this name, with the troubles that the run is to meet."""

    def __init__(self, world: str, key: str, troubles: Troubles | None = None) -> None:
        self.troubles = troubles or Troubles()
        super().__init__(world, key, self.troubles.purged)
        self.failing = set(self.troubles.passing)

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


def _plan(run: Services, args: Arguments) -> Json:
    """Accept a plan; there is nothing to observe."""
    return None if args["tasks"] else error("plan: field 'tasks' is empty")


def _finish(run: Services, args: Arguments) -> Json:
    """Accept the answer to a task; there is nothing to observe."""
    return None if isinstance(args["answer"], str) else error("finish: field 'answer' is not text")


_TOOLS: dict[str, Callable[[Services, Arguments], Json]] = {
    "plan": _plan,
    "finish": _finish,
    "sites": data_tools.sites,
    "assets": data_tools.assets,
    "sensors": data_tools.sensors,
    "history": data_tools.history,
    "jsonreader": data_tools.jsonreader,
    "statistics": data_tools.statistics,
    "tsfm_models": data_tools.models,
    "tsfm_anomaly_detection": data_tools.tsad,
    "tsfm_forecasting": data_tools.forecasting,
    "get_failure_modes": work_tools.failure_modes,
    "get_sensor_mapping": work_tools.mapping,
    "get_events": work_tools.events,
    "list_work_orders": work_tools.orders,
    "create_work_order": work_tools.create,
    "bundle_work_orders": work_tools.bundle,
}
TOOLS = tuple(_TOOLS)
