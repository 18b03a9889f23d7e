"""The witness: finds the faults of a run from the run alone, by other reasoning than the injector and the rules.

It shares no code with either. It reads sentences: the wording bank turns every thought, answer and description back
into claims, and each kind of claim is tied to a predicate over the observations before it (``_Record``). A claim about
something that was never shown is referential; one whose premises differ from what was shown is factual; one whose
conclusion its own premises do not bear out is logical. Steps that the procedure demands and calls or statements that a
mandate or the question rules out are looked for beside that.

A set is as labelled when the witness of every run names the labelled faults, at their steps, and nothing else. What
merely repeats an earlier fault (an answer that passes on a wrong number, a second attempt with the same arguments) is
its echo and no fault of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trajaudit.testbeds.asset_ops.readings import Reading, conclusion_holds, name_slots
from trajaudit.testbeds.asset_ops.record import Record
from trajaudit.testbeds.asset_ops.wording import Bank, bank, sentences
from trajaudit.trajectory import Step, Trajectory

_OWNERS = {
    "plan": ("Orchestrator",),
    "finish": ("IoT", "FSMR", "TSFM", "WO", "Summariser"),
    "jsonreader": ("IoT", "TSFM"),
    **dict.fromkeys(("sites", "assets", "sensors", "history", "statistics"), ("IoT",)),
    **dict.fromkeys(("get_failure_modes", "get_sensor_mapping"), ("FSMR",)),
    **dict.fromkeys(("tsfm_models", "tsfm_anomaly_detection", "tsfm_forecasting"), ("TSFM",)),
    **dict.fromkeys(("get_events", "list_work_orders", "create_work_order", "bundle_work_orders"), ("WO",)),
}
_NO_NAMES = ("answer", "description", "priority", "start", "tasks")


class Found(NamedTuple):
    """A fault that the run itself bears out."""

    type: str
    step: int


def witness(trajectory: Trajectory) -> list[Found]:
    """Return the faults of a generated run of the plant, in step order."""
    hearing = _Hearing(trajectory, bank(str(trajectory.source.meta["wording"])))
    for step in trajectory.steps:
        hearing.hear(step)
    return sorted(dict.fromkeys(hearing.found), key=lambda found: (found.step, found.type))


def witnessed(trajectory: Trajectory) -> bool:
    """Return whether the witness finds the labelled faults of a run and no other."""
    assert trajectory.label is not None
    labelled = sorted((fault.step or 0, fault.type) for fault in trajectory.label.faults)
    return [(found.step, found.type) for found in witness(trajectory)] == labelled


class _Hearing:
    """One run, heard step by step: what it has shown, and what was found wrong so far."""

    def __init__(self, run: Trajectory, words: Bank) -> None:
        self.words = words
        goal = words.read("goal", run.task)
        assert goal is not None, run.task
        self.asked, self.goal = goal
        self.record = Record(run.task)
        self.plan: list[str] = []
        self.done: list[str] = []
        self.found: list[Found] = []
        self.known_wrong: set[object] = set()

    def wrong(self, fault: str, at: int, what: object) -> None:
        """Note a fault, unless it is an echo of one that was noted."""
        if (fault, what) not in self.known_wrong:
            self.known_wrong.add((fault, what))
            self.found.append(Found(fault, at))

    def hear(self, step: Step) -> None:
        tool, args, at = step.action.tool, step.action.args, step.index  # type: ignore[union-attr]
        assert tool is not None
        assert args is not None
        for reading in self._read(step.thought or "", args):
            self._judge(reading, at, step.agent or "")
        for value in _named(args):
            if not self.record.shown(value):
                self.wrong("referential", at, value)
        if step.agent not in _OWNERS[tool]:
            self.wrong("scope", at, (step.agent, tool))
        self._asked(tool, args, at)
        self._procedure(tool, args, at, step.agent or "")
        self._decided(tool, args, at)
        self.record.add(step)

    def _read(self, thought: str, args: dict[str, Any]) -> Iterator[Reading]:
        for group, text in (("note", thought), ("say", args.get("answer", "")), ("text", args.get("description", ""))):
            for sentence in sentences(text):
                reading = self.words.read(group, sentence)
                if reading is not None:
                    yield Reading(group, *reading)

    def _judge(self, reading: Reading, at: int, agent: str) -> None:
        """Try one claim: are its names known, its premises observed, its conclusion sound, and is it for this agent?"""
        unknown = [name for name in name_slots(reading.slots) if not self.record.shown(name)]
        for name in unknown:
            self.wrong("referential", at, name)
        if unknown:
            return
        if (reading.group, reading.kind) == ("say", "readback"):
            if not self.record.read_back:
                self.wrong("procedural", at, "readback")
            return
        if reading.kind == "checked":
            if not self.record.answered("list_work_orders") and ("procedural", "orders") not in self.known_wrong:
                self.wrong("procedural", at, "checked")
            return
        if reading.kind == "advice":
            if agent not in ("WO", "Summariser"):
                self.wrong("scope", at, "advice")
            return
        false = self.record.contradicted(reading)
        if false is not None:
            self.wrong("factual", at, false)
        elif reading.kind == "stat" and self.asked == "statistic" and reading.slots["stat"] != self.goal["stat"]:
            self.wrong("scope", at, reading.slots["stat"])
        if not conclusion_holds(reading):
            self.wrong("logical", at, reading.conclusion)

    def _asked(self, tool: str, args: dict[str, Any], at: int) -> None:
        """A history is of an asset and a week that the question is about."""
        if tool != "history":
            return
        assets = (self.goal.get("asset"), self.goal.get("other"))
        if args["assetnum"] not in assets and self.record.shown(args["assetnum"]):
            self.wrong("scope", at, args["assetnum"])
        if args["start"] != self.goal["week"]:
            self.wrong("scope", at, args["start"])

    def _procedure(self, tool: str, args: dict[str, Any], at: int, agent: str) -> None:
        """What has to come before this call has come, and every task of the plan has been done by the end."""
        record = self.record
        match tool:
            case "plan":
                self.plan = [task["agent"] for task in args["tasks"]]
                if "TSFM" in self.plan and "IoT" in self.plan and self.plan.index("TSFM") < self.plan.index("IoT"):
                    self.wrong("procedural", at, "data")
            case "history" if args["assetnum"] == self.goal["asset"] and not record.answered("sensors"):
                self.wrong("procedural", at, "sensors")
            case "tsfm_anomaly_detection" | "tsfm_forecasting" if not record.answered("history"):
                self.wrong("procedural", at, "data")
            case "tsfm_forecasting" if not record.answered("tsfm_models"):
                self.wrong("procedural", at, "models")
            case "get_sensor_mapping" if not record.answered("get_failure_modes"):
                self.wrong("procedural", at, "modes")
            case "create_work_order" | "bundle_work_orders" if not record.answered("list_work_orders"):
                self.wrong("procedural", at, "orders")
            case "finish" if agent != "Summariser":
                self.done.append(agent)
            case "finish" if sorted(self.done) != sorted(self.plan):
                self.wrong("procedural", at, "undone")

    def _decided(self, tool: str, args: dict[str, Any], at: int) -> None:
        """An order is raised, and orders are bundled, where the condition in the question says so."""
        if tool == "create_work_order" and self.asked == "inspection":
            count = self.record.anomalies()
            if count is not None and count < int(self.goal["limit"]):
                self.wrong("logical", at, "needed")
        if tool == "bundle_work_orders":
            orders = self.record.last("list_work_orders")["work_orders"]
            matching = [order["wo_id"] for order in orders if order["opened"] >= self.goal["since"]]
            if args["work_orders"] != matching:
                self.wrong("logical", at, "selection")


def _named(args: dict[str, Any]) -> Iterator[str]:
    """Yield whatever the arguments of a call name."""
    for key, value in args.items():
        if key not in _NO_NAMES:
            yield from value if isinstance(value, list) else [value]
