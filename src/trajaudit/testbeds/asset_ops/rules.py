"""The rule engine of the plant: Trajel's types as predicates over a run, free, and blind where meaning begins.

It walks a run once with a pool of what the question and earlier observations have shown. *Referential*: an argument
or a name in a thought, an answer or a description stands nowhere in that pool. *Factual*: a number or a date does not.
*Procedural*: a step came before what the procedure puts first, or a planned task was left undone. *Scope*: an agent
used a tool that is not its own, or asked about another asset, site or week than the question.

What it does not see follows from what it does not read. It reads no sentence: a conclusion that is wrong about
numbers that are right (logical), a recommendation by the wrong agent, the maximum where the mean was asked for (scope)
and a report of a reading-back that never was (procedural) all consist of grounded names and numbers. And a false count
that happens to equal some other number of the run passes as seen. How much of each type it finds is ``coverage``.

What follows from a fault is not reported again: a name or number that was found without ground is reported where it
first stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.mandates import IOT, TOOLS_OF, TSFM
from trajaudit.testbeds.asset_ops.vocabulary import assets_in, dates_in, leaves, names_in, numbers_in
from trajaudit.testbeds.violations import Violation, coverage_of
from trajaudit.trajectory import Step, Trajectory

NAMING = (
    *("site_name", "assetnum", "sensor", "column", "target_column", "file_name", "dataset_path", "asset_name"),
    *("failure_modes", "sensors", "work_orders", "model_checkpoint", "failure_code"),
)
"""Arguments that name something which has to be known."""
_TEXTS = ("answer", "description")
_ANALYSING = ("tsfm_anomaly_detection", "tsfm_forecasting")
_BEFORE = {
    "tsfm_forecasting": ("tsfm_models", "models_before_forecast"),
    "get_sensor_mapping": ("get_failure_modes", "modes_before_mapping"),
    "create_work_order": ("list_work_orders", "orders_before_raising"),
    "bundle_work_orders": ("list_work_orders", "orders_before_raising"),
}
"""What a tool needs another one to have answered before it, and the rule's name."""


def check(trajectory: Trajectory) -> list[Violation]:
    """Return every violation in step order; the first one is the rules' verdict. An empty list means clean.

    Raises:
        ValueError: for a step that is no tool call: not a run of this plant.
    """
    walk = _Walk(trajectory.task)
    for step in trajectory.steps:
        walk.take(step, f"{trajectory.id}: steps[{step.index}]")
    return walk.violations


def coverage(trajectories: Iterable[Trajectory]) -> dict[str, float]:
    """Return, for each fault type that is labelled, the share of its faults found with the right type and step."""
    return coverage_of(check, trajectories)


def _texts(value: Json) -> Iterator[str]:
    """Yield the strings in an argument, whatever its shape."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


class _Walk:
    """What is known at one point of a run."""

    def __init__(self, task: str) -> None:
        self.violations: list[Violation] = []
        self.names: set[str] = set(names_in(task))
        self.dates: set[str] = set(dates_in(task))
        self.numbers: set[float] = set(numbers_in(task))
        self.assets, self.weeks = set(assets_in(task)), set(self.dates)
        self.sites = {name for name in self.names if name.isupper() and "-" not in name}
        self.succeeded: set[str] = set()
        self.listed: set[str] = set()
        self.planned: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()
        self.reported: set[object] = set()

    def take(self, step: Step, where: str) -> None:
        action = step.action
        if action is None or action.tool is None or action.args is None:
            raise ValueError(f"{where}: expected a tool call, got {action!r}")
        tool, args, at = action.tool, action.args, step.index
        self.grounded_arguments(at, tool, args)
        for text in (step.thought, *(args.get(name) for name in _TEXTS)):
            if isinstance(text, str):
                self.grounded_text(at, text)
        self.own_tools(at, step.agent, tool)
        self.asked_for(at, tool, args)
        self.in_order(at, tool, args)
        if tool == "plan":
            self.data_planned_first(at, args)
        elif tool == "finish":
            self.finish(at, step.agent or "")
        self.learn(tool, args, step.observation)

    def learn(self, tool: str, args: dict[str, Json], answer: Json) -> None:
        """Add what a call showed to what is known; an error shows nothing."""
        if isinstance(answer, dict) and "error" in answer:
            return
        self.succeeded.add(tool)
        if tool == "sensors":
            self.listed.update(_texts(args.get("assetnum")))
        for leaf in leaves(answer):
            if isinstance(leaf, float):
                self.numbers.add(leaf)
            else:
                self.names.add(leaf)
                self.dates.update(dates_in(leaf))

    def broken(self, rule: str, at: int, fault: str, message: str, once: object) -> None:
        """Note a violation, unless the same thing was found before."""
        if (rule, once) not in self.reported:
            self.reported.add((rule, once))
            self.violations.append(Violation(rule, at, fault, message))

    def grounded_arguments(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """Whatever an argument names stands in the question or in an earlier observation."""
        for name in NAMING:
            for value in _texts(args.get(name)):
                if value not in self.names:
                    message = f"{tool}.{name}: expected a name from the question or an observation, got {value!r}"
                    self.broken("grounded_names", at, "referential", message, value)

    def grounded_text(self, at: int, text: str) -> None:
        """Names, dates and numbers of a text stand in the question or in an earlier observation."""
        for name in names_in(text):
            if name not in self.names:
                self.broken("grounded_names", at, "referential", f"{name!r} appears nowhere before", name)
        values: list[str | float] = [*(d for d in dates_in(text) if d not in self.dates)]
        values += [number for number in numbers_in(text) if number not in self.numbers]
        for value in values:
            self.broken("observed_values", at, "factual", f"{value!r} was never observed", value)

    def own_tools(self, at: int, agent: str | None, tool: str) -> None:
        """An agent uses the tools of its mandate only."""
        if agent in TOOLS_OF and tool not in TOOLS_OF[agent]:
            self.broken("own_tools", at, "scope", f"{agent}: {tool} is outside its mandate", (agent, tool))

    def asked_for(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """Calls are about the site, the assets and the week that the question names, where it names any."""
        asked = (
            ("site_name", self.sites),
            ("assetnum", self.assets),
            ("asset_name", self.assets),
            ("start", self.weeks),
        )
        for name, known in asked:
            for value in _texts(args.get(name)):
                if known and value not in known and (name == "start" or value in self.names):
                    message = f"{tool}.{name}: expected {' or '.join(sorted(known))}, got {value}"
                    self.broken("asked_for", at, "scope", message, value)

    def in_order(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """What the procedure puts first has been done, successfully."""
        if tool == "history":
            for asset in _texts(args.get("assetnum")):
                if asset in self.assets and asset not in self.listed:
                    message = f"history({asset}): expected its sensors to be listed before, they were not"
                    self.broken("sensors_before_history", at, "procedural", message, asset)
        if tool in _ANALYSING and "history" not in self.succeeded and self.planned_well():
            self.broken("data_before_analysis", at, "procedural", f"{tool}: expected a history before it, got none", 0)
        needed, rule = _BEFORE.get(tool, ("", ""))
        if needed and needed not in self.succeeded:
            self.broken(rule, at, "procedural", f"{tool}: expected {needed} before it, got none", 0)

    def planned_well(self) -> bool:
        return ("data_planned_first", 0) not in self.reported

    def data_planned_first(self, at: int, args: dict[str, Json]) -> None:
        """A plan has IoT fetch data before TSFM is to analyse them."""
        tasks = args.get("tasks")
        agents = [str(task.get("agent")) for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
        self.planned.update(agents)
        if TSFM in agents and IOT not in agents[: agents.index(TSFM)]:
            message = f"plan: expected a task of {IOT} before the one of {TSFM}, got {', '.join(agents)}"
            self.broken("data_planned_first", at, "procedural", message, 0)

    def finish(self, at: int, agent: str) -> None:
        """When the final answer is given, every planned task has been done."""
        if agent in TOOLS_OF and "plan" not in TOOLS_OF[agent] and len(TOOLS_OF[agent]) > 1:
            self.finished[agent] += 1
            return
        missing = self.planned - self.finished
        if missing:
            message = f"finish: expected the tasks of {', '.join(missing)} to be done, they were not"
            self.broken("tasks_done", at, "procedural", message, 0)
