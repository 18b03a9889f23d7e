"""Claims: what a sentence of a run states, as a kind and its slots, and how true ones are read off observations.

Every sentence that an agent says about the plant is one of these kinds, so that it can be made false in one slot and
nothing else, and read back by whoever knows the wording bank. Where a kind holds a conclusion (above or below, rising
or falling, needed or not), the slots hold its premises beside it: a wrong premise is a factual fault, a wrong
conclusion from right premises a logical one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from trajaudit.testbeds.replay import Course

Slots = dict[str, str]


class Claim(NamedTuple):
    """A statement: its kind, such as ``trend``, and what fills its slots, all of it text."""

    kind: str
    slots: Slots


def reading(value: float) -> str:
    """Return a reading as it is written in a sentence: two decimals."""
    return f"{value:.2f}"


def got(course: Course, stage: str, subject: int | None = None) -> Any:
    """Return what the last call of a stage showed, over its repetitions; null where none succeeded."""
    for name in (f"{stage}.again", f"{stage}.retry", stage):
        step = course.at.get((name, subject))
        if step is not None and not (isinstance(step.observation, dict) and "error" in step.observation):
            return step.observation
    return None


def args_of(course: Course, stage: str, subject: int | None = None) -> dict[str, Any]:
    """Return the arguments that a stage was called with, empty where it was not."""
    step = course.at.get((stage, subject))
    return (step.action.args or {}) if step is not None and step.action is not None else {}


def side(value: str, limit: str) -> str:
    """Return where a reading lies; equal counts as below."""
    return "above" if float(value) > float(limit) else "below"


def trend(first: str, last: str) -> str:
    return "rising" if float(last) > float(first) else "falling"


def due(count: str, limit: str) -> str:
    return "needed" if int(count) >= int(limit) else "not needed"


def percent(a: str, b: str) -> str:
    """Return by how many per cent the higher of two readings lies over the lower, to one decimal."""
    low, high = sorted((float(a), float(b)))
    return f"{100 * (high - low) / low:.1f}"


def listed(items: Sequence[str]) -> str:
    return ", ".join(items)
