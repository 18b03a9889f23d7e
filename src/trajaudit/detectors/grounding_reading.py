"""What a run did and saw, laid out so that its answer can be held against it: calls, outcomes, and the text observed.

Only what an auditor may see is read: task, steps, final answer. Which choice changes the numbers: text that the agent
wrote itself (a plan, a verifier's remark, a step without a tool) is never an observation, so a value that an agent
made up and then quoted supports nothing. Values count as equal within 0.6 %, which forgives rounding to three digits
and nothing more; a tolerance of 5 % would let one sensor's reading support another's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trajaudit._fields import Json
from trajaudit.trajectory import Step, Trajectory

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*")
IDENTIFIER = re.compile(r"\b[A-Z]{1,5}[-_]?[0-9A-F]*\d[0-9A-F]*\b|\b[a-z]+(?:_[a-z0-9]+)+\b")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
TOLERANCE = 0.006
PLANNER, VERIFIER = "planner", "verifier"
OUTCOMES = ("ok", "empty", "error")
_ERROR = re.compile(r"error|exception|traceback|not found|no readings|failed|invalid", re.IGNORECASE)
_NOTHING = ("", "[]", "{}", "null")
_HEAD = 300
"""Characters of an observation in which an error would announce itself; further in, the word may be about anything."""


@dataclass(frozen=True)
class Call:
    """One call of a tool: the step, what was asked, the text that came back, and how it went (one of `OUTCOMES`)."""

    step: int
    tool: str
    args: dict[str, Json]
    text: str
    outcome: str


@dataclass(frozen=True, eq=False)
class Reading:
    """A run as its task, its calls in order, and its final answer; ``plan`` are the lines of a plan.

    ``remarks`` are a verifier's decisions (the first words of each); ``own`` are the steps in which the agent wrote
    text instead of calling a tool.
    """

    task: str
    answer: str
    calls: tuple[Call, ...]
    plan: tuple[str, ...]
    remarks: tuple[str, ...]
    own: tuple[int, ...]
    broke_off: bool

    @classmethod
    def of(cls, run: Trajectory) -> Reading:
        written = [step for step in run.steps if step.action is not None and step.action.tool is None]
        plans = [step.action.text or "" for step in written if step.agent == PLANNER and step.action]
        remarks = [step.action.text or "" for step in written if step.agent == VERIFIER and step.action]
        return cls(
            run.task,
            (run.final_answer or "").strip(),
            tuple(_calls(run.steps)),
            tuple(plans[0].split("\n")) if plans else (),
            tuple(text.partition(";")[0].strip() for text in remarks),
            tuple(step.index for step in written if step.agent not in (PLANNER, VERIFIER)),
            all(step.action is None for step in run.steps),
        )

    @cached_property
    def observed(self) -> str:
        """Everything that tools returned."""
        return "\n".join(call.text for call in self.calls)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The numbers that tools returned."""
        return numbers(self.observed)

    @cached_property
    def asked(self) -> NDArray[np.float64]:
        """The numbers that the task states."""
        return numbers(self.task)

    def origin(self, number: float) -> str:
        """Return where a number of the answer comes from: ``task``, ``seen`` in an observation, or ``nowhere``."""
        if among(number, self.asked):
            return "task"
        return "seen" if among(number, self.values) else "nowhere"

    def origin_of(self, text: str) -> str:
        """Return the same for a date or an identifier."""
        if text in self.task:
            return "task"
        return "seen" if text in self.observed else "nowhere"


def numbers(text: str) -> NDArray[np.float64]:
    """Return the numbers of a text, thousands separators removed.

    >>> numbers("took 1,250.5 h at -3 °C").tolist()
    [1250.5, -3.0]
    """
    found = [match.replace(",", "").rstrip(".") for match in NUMBER.findall(text)]
    return np.array([float(digits) for digits in found if digits not in ("", "-")])


def among(number: float, pool: NDArray[np.float64]) -> bool:
    """Return whether a number equals one of a pool, within `TOLERANCE` of itself."""
    return bool(np.any(np.abs(pool - number) <= max(abs(number) * TOLERANCE, 1e-9)))


def text_of(value: Json) -> str:
    """Return an observation as text, escapes of text inside JSON undone."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\\n", "\n").replace('\\"', '"')


def _calls(steps: tuple[Step, ...]) -> Iterator[Call]:
    for step in steps:
        if step.action is not None and step.action.tool is not None:
            text = text_of(step.observation)
            yield Call(step.index, step.action.tool, step.action.args or {}, text, _outcome(text))


def _outcome(text: str) -> str:
    if text.strip() in _NOTHING:
        return "empty"
    return "error" if _ERROR.search(text[:_HEAD]) else "ok"
