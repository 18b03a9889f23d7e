"""A run as an event log: which tool was called, on which objects, with which arguments, and what the call showed.

Conformance is object-centric, since a run about three orders is three interleaved processes and a check of one order
permits no refund of another. An event's objects are the identifiers among its arguments, and those of the event that
first showed one of them: a policy read for an article belongs to the order whose record named the article. A call that
names no object is about all that the task asks for.

Argument and field names are read without the unit at their end (``amount_eur`` is ``amount``), so that a process mined
in one currency describes a run in another. Text of more than three words is free text: neither argument nor object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from trajaudit._fields import Json, canonical
from trajaudit.trajectory import Step, Trajectory

_SUFFIX = re.compile(
    r"_(?:eur|usd|gbp|chf|sek|pln|jpy|kwd|pct|percent|seconds|minutes|hours|days|weeks|months|kw|mw|kv|v|a|c|hz)$"
)
_TOKEN = re.compile(r"[A-Za-z0-9](?:[\w@./+-]*[A-Za-z0-9])?")
_ERROR = re.compile(r"\s*(?:error|exception|traceback|failed|invalid)\b", re.IGNORECASE)
FREE_TEXT_WORDS = 3


class Event(NamedTuple):
    """One call: canonical arguments without free text, whether it worked, and the leaves that it showed by field."""

    step: int
    tool: str
    args: dict[str, Json]
    ok: bool
    shown: dict[str, tuple[Json, ...]]
    objects: frozenset[str]
    call: bytes

    def about(self, name: str | None) -> bool:
        """Return whether the event concerns an object; every event concerns the run (null)."""
        return name is None or name in self.objects


class Log(NamedTuple):
    """The events of one run, and the words of its task that could name an object."""

    events: tuple[Event, ...]
    asked: tuple[str, ...]


def event_log(trajectory: Trajectory) -> Log:
    """Return the log of a run; a step without a tool call is an event of the tool ``text`` without arguments."""
    asked = tuple(dict.fromkeys(word for word in _TOKEN.findall(trajectory.task) if names(word)))
    origin: dict[str, frozenset[str]] = {}
    events = []
    for step in trajectory.steps:
        event = _event(step, origin, asked)
        events.append(event)
        for values in event.shown.values():
            for value in values:
                if isinstance(value, str) and not free_text(value):
                    origin.setdefault(value, event.objects)
    return Log(tuple(events), asked)


def _event(step: Step, origin: dict[str, frozenset[str]], asked: tuple[str, ...]) -> Event:
    action = step.action
    given = action.args or {} if action is not None else {}
    leaves = {name: value for name, value in _leaves(given) if not free_text(value)}
    args = {canonical_name(name): value for name, value in leaves.items()}
    own = frozenset(value for value in args.values() if names(value))
    objects = own.union(*(origin.get(name, frozenset()) for name in own)) if own else frozenset(asked)
    shown: dict[str, tuple[Json, ...]] = {}
    for name, value in _leaves(step.observation):
        key = canonical_name(name)
        shown[key] = (*shown.get(key, ()), value)
    tool = action.tool or "text" if action is not None else "text"
    return Event(step.index, tool, args, worked(step.observation), shown, objects, canonical([tool, given]))


def worked(observation: Json) -> bool:
    """Return whether a call worked, by what tools say when it did not: a flag, an error field, or a text about it.

    >>> worked({"ok": False}), worked({"error": None, "data": 1}), worked("Error executing tool x"), worked(None)
    (False, True, False, True)
    """
    if isinstance(observation, dict):
        flags = [observation[key] for key in ("ok", "success") if isinstance(observation.get(key), bool)]
        return all(flags) and not observation.get("error")
    return not (isinstance(observation, str) and _ERROR.match(observation))


def names(value: Json) -> bool:
    """Return whether a value can name an object: one word with a digit or an @ in it."""
    return isinstance(value, str) and any(c.isdigit() or c == "@" for c in value) and not any(map(str.isspace, value))


def free_text(value: Json) -> bool:
    return isinstance(value, str) and len(value.split(None, FREE_TEXT_WORDS)) > FREE_TEXT_WORDS


@lru_cache(maxsize=4096)
def canonical_name(path: str) -> str:
    """Return a key path without the unit at its end.

    >>> canonical_name("data.max_refund_eur")
    'data.max_refund'
    """
    return _SUFFIX.sub("", path)


def shape(name: str) -> str:
    """Return what the identifiers of one kind share: their letters, with every run of digits as one.

    >>> shape("ORD-12345"), shape("T-006")
    ('ORD-0', 'T-0')
    """
    return re.sub(r"\d+", "0", name)


def same(a: Json, b: Json) -> bool:
    """Return whether two leaves are one value; numbers are compared as numbers, true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a))
    return type(a) is type(b) and bool(a == b)


def _leaves(data: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list):
        for value in data:
            yield from _leaves(value, path)
    elif data is not None:
        yield path, data
