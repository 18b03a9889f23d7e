"""Where a hallucination sits, as people and models write it: "Task 2 and Task 3, Action and Response" as data.

The text is a run of groups; a group names tasks (or steps), then components that hold for all of them. Two choices
change counts. A list of numbers after one word "Task" is read whole ("Task 3 and 7" names two tasks; counting the
number after each word "Task" loses the 7), while a number after a component counts occurrences of that component
("Task 6, Action 2" names task 6 only). And a description behind a colon ("Action: Time Series Analytics and
Forecasting") is not searched for component words.

One grammar serves annotations, whose unit is the task of a plan, and judges, whose unit is the step of the record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trajaudit._fields import RecordError

VERSION = 2
"""Raised when the grammar changes: it is part of the spec of judges that are read by it."""
COMPONENTS = ("thought", "action", "observation", "response")
"""Trajel's own names; a final response is a response."""

_DESCRIPTION = re.compile(r"\b(thought|action|observation|response|agent)\s*:[^;]*", re.IGNORECASE)


def _grammar(unit: str, response: str) -> re.Pattern[str]:
    return re.compile(
        rf"{unit}s?\s*(?P<numbers>\d+(?:\s*(?:,|and|&)\s*(?:and\s+)?\d+)*)"
        rf"|(?P<all>all\s+{unit}s)"
        rf"|(?P<component>thought|action|observation|{response})",
        re.IGNORECASE,
    )


_TASKS = _grammar("task", r"(?:final\s+)?resp\w+")
_STEPS = _grammar("step", r"(?:final[\s_]+)?(?:resp\w+|answer)")
_RANGE = re.compile(r"\d\s*(?:-|–|\bto\b|\bthrough\b)\s*\d", re.IGNORECASE)
_WORD_TASK = re.compile(r"task\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """One named place: a task or step (null for all of them) and a component (null where none is named for it)."""

    task: int | None
    component: str | None


def parse_location(text: str) -> tuple[Place, ...]:
    """Return the places that an annotator's location names, in order, each once.

    Raises:
        RecordError: for text that names no task.

    >>> [(p.task, p.component) for p in parse_location("Task 3 and 7, Thought; Task 8, Action/Response")]
    [(3, 'thought'), (7, 'thought'), (8, 'action'), (8, 'response')]
    >>> [(p.task, p.component) for p in parse_location("Task 6, Action 2")]
    [(6, 'action')]
    >>> [(p.task, p.component) for p in parse_location("Task2, Task 5 and Task8")]
    [(2, None), (5, None), (8, None)]
    """
    places = _places(_TASKS, text)
    if text.strip() and not places:
        raise RecordError(f"location: expected text that names a task, got {text!r}")
    return tuple(places)


def parse_steps(text: str) -> tuple[Place, ...]:
    """Return the places that a judge's location names; a final answer needs no step.

    Raises:
        RecordError: for a part between semicolons that names neither a step nor the final answer, or a range of steps,
            of which the grammar would keep the first alone.

    >>> [(p.task, p.component) for p in parse_steps("Step 2, Action; steps 4 and 5, thought; final answer")]
    [(2, 'action'), (4, 'thought'), (5, 'thought'), (None, 'response')]
    """
    places: dict[Place, None] = {}
    for part in text.split(";"):
        if _RANGE.search(part):
            raise RecordError(f"location: expected every step by its own number, got {part.strip()!r}")
        found = _places(_STEPS, part)
        if not found and re.search(r"final[\s_]+(answer|response)|^\s*(answer|response)\b", part, re.IGNORECASE):
            found = {Place(None, "response"): None}
        if not found:
            raise RecordError(f"location: expected a step with its component, or final answer, got {part.strip()!r}")
        places |= found
    return tuple(places)


def _places(grammar: re.Pattern[str], text: str) -> dict[Place, None]:
    places: dict[Place, None] = {}
    numbers: list[int | None] = []
    components: list[str] = []
    for token in grammar.finditer(_DESCRIPTION.sub(r"\1", text)):
        if token["component"]:
            components.append(_component(token["component"]))
            continue
        if components:
            places |= _group(numbers, components)
            numbers, components = [], []
        numbers += [None] if token["all"] else [_number(digits) for digits in re.findall(r"\d+", token["numbers"])]
    return places | _group(numbers, components)


def _number(digits: str) -> int:
    if len(digits) > 9:
        raise RecordError(f"location: expected the number of a step, got one of {len(digits)} digits")
    return int(digits)


def _component(word: str) -> str:
    lower = word.lower()
    return lower if lower in COMPONENTS else "response"


def _group(numbers: list[int | None], components: list[str]) -> dict[Place, None]:
    return {Place(number, component): None for number in numbers for component in components or [None]}  # type: ignore[list-item]


def numbers_after_task(text: str) -> list[int]:
    """Return the number behind each word "Task": the reading that the paper's position counts follow.

    >>> numbers_after_task("Task 3 and 7, Thought; Task 8, Action")
    [3, 8]
    """
    return [int(number) for number in _WORD_TASK.findall(text)]
