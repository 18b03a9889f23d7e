"""What clean runs have in common, as data: precedence, guards, sources of arguments, uniqueness, and how a run ends.

Relations are per object: ``slot`` is the argument of the later call that names the object, null for the run as a whole.
A model is a small JSON file of names; `conformance_mining` makes it and `conformance_replay` holds a run against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.detectors.conformance_log import Event, Log, names, same, shape

TASK = "task"
Shapes = dict[str, tuple[str, ...]]
"""For each argument that names objects of one kind, the shapes of their identifiers."""


class Precedence(NamedTuple):
    """Before ``tool`` on an object, ``before`` worked on it."""

    tool: str
    before: str
    slot: str | None


class Guard(NamedTuple):
    """When ``tool`` is called on an object, the latest ``by`` on it showed ``value`` in ``field``."""

    tool: str
    slot: str | None
    by: str
    field: str
    value: bool


class Source(NamedTuple):
    """``arg`` of ``tool`` is a value that ``by`` showed in ``field``, on the object in ``slot``; ``by`` may be task."""

    tool: str
    arg: str
    by: str
    field: str
    slot: str | None


class Unique(NamedTuple):
    """``tool`` works at most once on an object."""

    tool: str
    slot: str | None


class Required(NamedTuple):
    """Of each object of this kind in the task, exactly one of ``tools`` is called on it."""

    slot: str
    tools: tuple[str, ...]


class Follows(NamedTuple):
    """``after`` came directly after ``tool`` so many ``times``, on one of its objects (``shared``) or on others."""

    tool: str
    after: str
    shared: bool
    times: int


@dataclass(frozen=True)
class ProcessModel:
    """What clean runs have in common.

    ``follows`` counts which call came next, and on an object of the one before or not; it breaks no rule and tells only
    where a missing call would have stood. ``shapes`` lists the shapes of the identifiers that a slot takes.
    """

    runs: int
    tools: tuple[str, ...]
    precedence: tuple[Precedence, ...]
    guards: tuple[Guard, ...]
    sources: tuple[Source, ...]
    unique: tuple[Unique, ...]
    required: tuple[Required, ...]
    ends: tuple[str, ...]
    follows: tuple[Follows, ...]
    shapes: Shapes

    def to_json(self) -> Json:
        out: dict[str, Json] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            out[item.name] = value if not isinstance(value, tuple) else [_plain(part) for part in value]
        return out | {"shapes": {slot: list(of) for slot, of in self.shapes.items()}}

    @classmethod
    def from_json(cls, obj: Json) -> ProcessModel:
        """Read a model written by `to_json`; what does not fit its fields is an error of their constructor."""
        required = tuple(Required(slot, tuple(tools)) for slot, tools in obj["required"])
        return cls(
            obj["runs"],
            tuple(obj["tools"]),
            tuple(Precedence(*row) for row in obj["precedence"]),
            tuple(Guard(*row) for row in obj["guards"]),
            tuple(Source(*row) for row in obj["sources"]),
            tuple(Unique(*row) for row in obj["unique"]),
            required,
            tuple(obj["ends"]),
            tuple(Follows(*row) for row in obj["follows"]),
            {slot: tuple(of) for slot, of in obj["shapes"].items()},
        )


def _plain(part: Json) -> Json:
    return [list(item) if isinstance(item, tuple) else item for item in part] if isinstance(part, tuple) else part


def bound(event: Event, slot: str | None, log: Log, shapes: Shapes) -> str | None:
    """Return the object in a slot of a call; where the call does not say, the only one of its kind that was asked for.

    Null where neither gives one: the relation then says nothing of this call.
    """
    if slot is None:
        return None
    value = event.args.get(slot)
    if value is not None:
        return value if isinstance(value, str) else None
    asked = [name for name in log.asked if shape(name) in shapes.get(slot, ())]
    return asked[0] if len(asked) == 1 else None


def slots_of(event: Event) -> list[str | None]:
    """Return the arguments of a call that name objects, after null for the run itself."""
    return [None, *(name for name, value in event.args.items() if names(value))]


def latest(events: Sequence[Event], tool: str, name: str | None) -> Event | None:
    """Return the last event of a tool that worked on an object."""
    return next((event for event in reversed(events) if event.tool == tool and event.ok and event.about(name)), None)


def candidates(event: Event, arg: str, log: Log, position: int, shapes: Shapes) -> set[Source]:
    """Return everything that an argument's value could have been taken from at this point of a run."""
    value, earlier = event.args[arg], log.events[:position]
    found = {Source(event.tool, arg, TASK, "", None)} if isinstance(value, str) and value in log.asked else set()
    for slot in slots_of(event):
        name = bound(event, slot, log, shapes) if slot != arg else None
        if slot == arg or (slot is not None and name is None):
            continue
        for tool in {e.tool for e in earlier}:
            by = latest(earlier, tool, name)
            within = [by] if slot is not None and by is not None else [e for e in earlier if e.tool == tool and e.ok]
            for other in within:
                found |= {Source(event.tool, arg, tool, f, slot) for f, vs in other.shown.items() if _any(vs, value)}
    return found


def _any(values: Sequence[Json], value: Json) -> bool:
    return any(same(other, value) for other in values)


def requested(log: Log, slot: str, shapes: Shapes) -> list[str]:
    """Return the objects of a slot's kind that the task names."""
    return [name for name in log.asked if shape(name) in shapes.get(slot, ())]
