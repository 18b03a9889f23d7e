"""The trajectory record: what an agent did, step by step, and (kept apart) what is known to be wrong with it.

Two choices here change numbers downstream. The content hash covers only what an auditor may see (task, steps, final
answer), so a corrected label keeps the verdicts that were paid for, while one changed observation voids them. And the
stratum (clean, silent, loud) is derived from the label and never stored, so the two cannot disagree; "silent" is the
testbed paper's term (section 3) for a fault after which the customer-visible outcome is still the right one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, canonical, dumps, fail, lines, typed
from trajaudit.taxonomy import COMPONENTS

VERSION = 1
ORIGINS = ("construction", "human", "judge", "rule")
STRATA = ("clean", "silent", "loud", "unknown")


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call (``tool`` with ``args``), or free text where the source has no more."""

    tool: str | None = None
    args: dict[str, Json] | None = None
    text: str | None = None

    def to_json(self) -> Json:
        return {"text": self.text} if self.tool is None else {"tool": self.tool, "args": self.args}

    @classmethod
    def from_json(cls, obj: Json, where: str = "action") -> Action:
        fields = Fields(obj, where, ("tool", "args", "text"))
        tool, text = fields.maybe("tool", str), fields.maybe("text", str)
        if (tool is None) == (text is None):
            raise RecordError(f"{where}: expected either tool and args, or text; got keys {sorted(obj)}")
        if tool is None:
            if fields.maybe("args", dict) is not None:
                raise RecordError(f"{where}.args: expected no arguments beside a free-text action")
            return cls(text=text)
        return cls(tool, fields.need("args", dict))


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the agent. ``index`` counts from 0 and equals the position in the trajectory."""

    index: int
    thought: str | None = None
    action: Action | None = None
    observation: Json = None
    agent: str | None = None

    def to_json(self) -> Json:
        action = None if self.action is None else self.action.to_json()
        return {
            "index": self.index,
            "agent": self.agent,
            "thought": self.thought,
            "action": action,
            "observation": self.observation,
        }

    @classmethod
    def from_json(cls, obj: Json, where: str = "step") -> Step:
        fields = Fields(obj, where, ("index", "agent", "thought", "action", "observation"))
        action = fields.obj.get("action")
        return cls(
            fields.need("index", int),
            fields.maybe("thought", str),
            None if action is None else Action.from_json(action, f"{where}.action"),
            fields.obj.get("observation"),
            fields.maybe("agent", str),
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that went wrong: its type, the step it happened at (null where unknown), the component it sits in."""

    type: str
    step: int | None = None
    component: str | None = None

    def to_json(self) -> Json:
        return {"type": self.type, "step": self.step, "component": self.component}

    @classmethod
    def from_json(cls, obj: Json, where: str = "fault") -> Fault:
        fields = Fields(obj, where, ("type", "step", "component"))
        component = fields.maybe("component", str)
        if component is not None and component not in COMPONENTS:
            fail(f"{where}.component", f"one of {', '.join(COMPONENTS)}", component)
        return cls(fields.need("type", str), fields.maybe("step", int), component)


@dataclass(frozen=True, slots=True)
class Label:
    """What is known to be true of a trajectory, and how it is known (``origin``).

    ``outcome_correct`` says whether the outcome is the expected one; null where nobody knows.
    ``twin`` is the id of the clean run that a constructed fault was injected into. It lives in the label because it
    gives the label away.

    >>> Label(True, (Fault("wrong_tool", 2, "action"),), outcome_correct=True).stratum
    'silent'
    """

    faulty: bool
    faults: tuple[Fault, ...] = ()
    outcome_correct: bool | None = None
    origin: str = "construction"
    twin: str | None = None

    def __post_init__(self) -> None:
        if self.faults and not self.faulty:
            raise RecordError(f"label: faulty is false but {len(self.faults)} fault(s) are listed")
        if self.origin not in ORIGINS:
            fail("label.origin", f"one of {', '.join(ORIGINS)}", self.origin)

    @property
    def stratum(self) -> str:
        if not self.faulty:
            return "clean"
        if self.outcome_correct is None:
            return "unknown"
        return "silent" if self.outcome_correct else "loud"

    @property
    def first(self) -> Fault | None:
        """The earliest fault; a fault without a step comes last. Null where none is listed."""
        return min(self.faults, key=lambda f: (f.step is None, f.step or 0), default=None)

    def to_json(self) -> Json:
        out = {
            "faulty": self.faulty,
            "faults": [fault.to_json() for fault in self.faults],
            "outcome_correct": self.outcome_correct,
            "origin": self.origin,
        }
        if self.twin is not None:
            out["twin"] = self.twin
        return out

    @classmethod
    def from_json(cls, obj: Json, where: str = "label") -> Label:
        fields = Fields(obj, where, ("faulty", "faults", "outcome_correct", "origin", "twin"))
        try:
            return cls(
                fields.need("faulty", bool),
                fields.each("faults", Fault.from_json),
                fields.maybe("outcome_correct", bool),
                fields.need("origin", str),
                fields.maybe("twin", str),
            )
        except RecordError as error:
            raise _placed(error, where, "label") from None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trajectory comes from. ``meta`` holds whatever else the source says; auditors never see any of it."""

    dataset: str
    model: str | None = None
    domain: str | None = None
    meta: dict[str, Json] = field(default_factory=dict)

    def to_json(self) -> Json:
        return {"dataset": self.dataset, "model": self.model, "domain": self.domain, "meta": self.meta}

    @classmethod
    def from_json(cls, obj: Json, where: str = "source") -> Source:
        fields = Fields(obj, where, ("dataset", "model", "domain", "meta"))
        return cls(
            fields.need("dataset", str),
            fields.maybe("model", str),
            fields.maybe("domain", str),
            fields.maybe("meta", dict) or {},
        )


_KEYS = ("version", "id", "group", "task", "steps", "final_answer", "reference", "source", "label")


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run of an agent.

    ``id`` is opaque and never contains the label; ``group`` is the unit that splits and resampling keep whole (the
    instance, question or scenario). ``reference`` is a gold answer where a source has one: no auditor is shown it
    unless its configuration asks for it by name. Construction refuses an empty step list, indices that do not count
    0, 1, 2 …, and a label that points past the last step.

    >>> run = Trajectory("t1", "g1", "Say hi.", (Step(0, "greet", Action("reply", {"text": "hi"}), "sent"),), "hi",
    ...                  Source("example"), Label(True, (Fault("wrong_tool", 3),)))
    Traceback (most recent call last):
    ...
    trajaudit._fields.RecordError: t1: label.faults[0].step: expected 0 to 0 (the last step), got 3
    """

    id: str
    group: str
    task: str
    steps: tuple[Step, ...]
    final_answer: str | None
    source: Source
    label: Label | None = None
    reference: str | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.group:
            fail(f"{self.id}: id and group", "text that is not empty", (self.id, self.group))
        if not self.steps:
            fail(f"{self.id}: steps", "at least one step", [])
        for position, step in enumerate(self.steps):
            if step.index != position:
                fail(f"{self.id}: steps[{position}].index", f"{position} (indices count the steps from 0)", step.index)
        if self.label is not None:
            for i, fault in enumerate(self.label.faults):
                if fault.step is not None and not 0 <= fault.step < len(self.steps):
                    expected = f"0 to {len(self.steps) - 1} (the last step)"
                    fail(f"{self.id}: label.faults[{i}].step", expected, fault.step)

    @property
    def content_hash(self) -> str:
        """SHA-256 over what an auditor may see: the task, the steps and the final answer."""
        steps = [step.to_json() for step in self.steps]
        content = {"task": self.task, "steps": steps, "final_answer": self.final_answer}
        return hashlib.sha256(canonical(content)).hexdigest()

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "id": self.id,
            "group": self.group,
            "task": self.task,
            "steps": [step.to_json() for step in self.steps],
            "final_answer": self.final_answer,
            "source": self.source.to_json(),
            "label": None if self.label is None else self.label.to_json(),
            **({} if self.reference is None else {"reference": self.reference}),
        }

    @classmethod
    def from_json(cls, obj: Json, where: str = "trajectory") -> Trajectory:
        """Read a trajectory of any version that a reader exists for; a file without a version is version 1."""
        version = typed(obj, dict, where).get("version", 1)
        if version not in READERS:
            fail(f"{where}: version", f"one of {sorted(READERS)} (written by a newer trajaudit?)", version)
        return READERS[version](obj, where)


def _placed(error: RecordError, where: str, root: str) -> RecordError:
    """Return ``error`` with file, line and path put before a message that a constructor raised about ``root``."""
    message = str(error)
    if message.startswith(where):
        return error
    rest = message.removeprefix(root)
    return RecordError(f"{where}{rest}" if rest != message else f"{where}: {message}")


def _read_v1(obj: Json, where: str) -> Trajectory:
    fields = Fields(obj, f"{where}:", _KEYS)
    source, label = fields.need("source", dict), fields.maybe("label", dict)
    try:
        return Trajectory(
            fields.need("id", str),
            fields.need("group", str),
            fields.need("task", str),
            fields.each("steps", Step.from_json),
            fields.maybe("final_answer", str),
            Source.from_json(source, fields.at("source")),
            None if label is None else Label.from_json(label, fields.at("label")),
            fields.maybe("reference", str),
        )
    except RecordError as error:
        raise _placed(error, where, "trajectory") from None


READERS = {1: _read_v1}
"""A reader for each version of the record ever written; none is removed when the next version comes."""


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSONL file, in order, in bounded memory but for the set of ids.

    Raises:
        RecordError: naming file, line and key, for a broken record or an id that occurred before.
    """
    seen: dict[str, str] = {}
    for where, obj in lines(path):
        trajectory = Trajectory.from_json(obj, where)
        if trajectory.id in seen:
            raise RecordError(f"{where}: id: duplicate id {trajectory.id!r}, first on line {seen[trajectory.id]}")
        seen[trajectory.id] = where.rpartition(":")[2]
        yield trajectory


def write_jsonl(path: str | Path, records: Iterable[Json]) -> int:
    """Write records (anything with ``to_json``, or JSON objects) one a line; return how many.

    The file appears under its name only when it is complete: a full disk or a crash leaves the old one untouched.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with open(part, "w", encoding="utf-8") as file:
            for record in records:
                file.write(dumps(record.to_json() if hasattr(record, "to_json") else record) + "\n")
                count += 1
        os.replace(part, path)
    except OSError as error:
        raise OSError(error.errno, f"could not write {path} ({error.strerror}) after {count} records") from error
    finally:
        part.unlink(missing_ok=True)
    return count
