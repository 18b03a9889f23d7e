"""Where a Trajel annotator put a hallucination: free text such as "Task 2 and Task 3, Action and Response" as data.

The text is a run of groups; a group names tasks, then components that hold for all of them. Two choices change
counts. A list of numbers after one word "Task" is read whole ("Task 3 and 7" names two tasks; counting the number after
each word "Task" loses the 7), while a number after a component counts occurrences of that component ("Task 6, Action 2"
names task 6 only). And a description behind a colon ("Action: Time Series Analytics and Forecasting") is not searched
for component words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trajaudit._fields import RecordError

COMPONENTS = ("thought", "action", "observation", "response")
"""Trajel's own names; a final response is a response."""

_DESCRIPTION = re.compile(r"\b(thought|action|observation|response|agent)\s*:[^;]*", re.IGNORECASE)
_TOKEN = re.compile(
    r"tasks?\s*(?P<tasks>\d+(?:\s*(?:,|and|&)\s*(?:and\s+)?\d+)*)"
    r"|(?P<all>all\s+tasks)"
    r"|(?P<component>thought|action|observation|(?:final\s+)?resp\w+)",
    re.IGNORECASE,
)
_WORD_TASK = re.compile(r"task\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """One named place: a task (null for "all tasks") and a component (null where none is named for the task)."""

    task: int | None
    component: str | None


def parse_location(text: str) -> tuple[Place, ...]:
    """Return the places that a location names, in order, each once.

    Raises:
        RecordError: for text that names no task.

    >>> [(p.task, p.component) for p in parse_location("Task 3 and 7, Thought; Task 8, Action/Response")]
    [(3, 'thought'), (7, 'thought'), (8, 'action'), (8, 'response')]
    >>> [(p.task, p.component) for p in parse_location("Task 6, Action 2")]
    [(6, 'action')]
    >>> [(p.task, p.component) for p in parse_location("Task2, Task 5 and Task8")]
    [(2, None), (5, None), (8, None)]
    """
    places: dict[Place, None] = {}
    tasks: list[int | None] = []
    components: list[str] = []
    for token in _TOKEN.finditer(_DESCRIPTION.sub(r"\1", text)):
        if token["component"]:
            components.append(_component(token["component"]))
            continue
        if components:
            places |= _group(tasks, components)
            tasks, components = [], []
        tasks += [None] if token["all"] else [int(number) for number in re.findall(r"\d+", token["tasks"])]
    places |= _group(tasks, components)
    if text.strip() and not places:
        raise RecordError(f"location: expected text that names a task, got {text!r}")
    return tuple(places)


def _component(word: str) -> str:
    lower = word.lower()
    return "response" if "resp" in lower else lower


def _group(tasks: list[int | None], components: list[str]) -> dict[Place, None]:
    return {Place(task, component): None for task in tasks for component in components or [None]}  # type: ignore[list-item]


def numbers_after_task(text: str) -> list[int]:
    """Return the number behind each word "Task": the reading that the paper's position counts follow.

    >>> numbers_after_task("Task 3 and 7, Thought; Task 8, Action")
    [3, 8]
    """
    return [int(number) for number in _WORD_TASK.findall(text)]
