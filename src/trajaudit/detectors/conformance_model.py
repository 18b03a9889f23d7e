"""A process model mined from clean runs: precedence, guards, sources of arguments, uniqueness, and how a run ends.

A relation is kept where it held in all but ``TOLERATED`` of at least ``SUPPORT`` occasions in the training runs. Healthy
detours (repeated reads, a record read for context, a call that failed and was made again) need no rule of their own:
what they break was broken in training too, and is not kept. No label of a fault is needed, only runs known, or taken,
to be clean.

Relations are per object: ``slot`` is the argument of the later call that names the object, null for the run as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.detectors.conformance_log import Event, Log, names, same, shape

SUPPORT = 20
TOLERATED = 0.002
TASK = "task"
_KINDS = 10
"""An argument whose values have more shapes than this names no kind of object (an email does not)."""


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


@dataclass(frozen=True)
class ProcessModel:
    """What clean runs have in common. ``shapes`` lists the shapes of the identifiers that a slot takes."""

    runs: int
    tools: tuple[str, ...]
    precedence: tuple[Precedence, ...]
    guards: tuple[Guard, ...]
    sources: tuple[Source, ...]
    unique: tuple[Unique, ...]
    required: tuple[Required, ...]
    ends: tuple[str, ...]
    shapes: dict[str, tuple[str, ...]]

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
            {slot: tuple(of) for slot, of in obj["shapes"].items()},
        )


def _plain(part: Json) -> Json:
    return [list(item) if isinstance(item, tuple) else item for item in part] if isinstance(part, tuple) else part


def mine(logs: Sequence[Log]) -> ProcessModel:
    """Return the process model of clean runs.

    Raises:
        ValueError: there is no run to mine.
    """
    if not logs:
        raise ValueError("conformance: expected clean runs to mine, got none")
    shapes = _shapes(logs)
    ends = Counter(log.events[-1].tool for log in logs)
    return ProcessModel(
        len(logs),
        tuple(sorted({event.tool for log in logs for event in log.events})),
        tuple(sorted(_precedence(logs, shapes), key=str)),
        tuple(sorted(_guards(logs, shapes), key=str)),
        tuple(sorted(_sources(logs, shapes), key=str)),
        tuple(sorted(_unique(logs), key=str)),
        tuple(sorted(_required(logs, shapes))),
        tuple(sorted(tool for tool, count in ends.items() if count > TOLERATED * len(logs))),
        shapes,
    )


def _holds(kept: int, of: int) -> bool:
    return of >= SUPPORT and kept >= (1 - TOLERATED) * of


def _shapes(logs: Iterable[Log]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = defaultdict(set)
    for log in logs:
        for event in log.events:
            for name, value in event.args.items():
                if names(value):
                    found[name].add(shape(value))
    return {name: tuple(sorted(of)) for name, of in sorted(found.items()) if len(of) <= _KINDS}


def bound(event: Event, slot: str | None, log: Log, shapes: dict[str, tuple[str, ...]]) -> str | None:
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


def _precedence(logs: Sequence[Log], shapes: dict[str, tuple[str, ...]]) -> list[Precedence]:
    held: Counter[Precedence] = Counter()
    occasions: Counter[tuple[str, str | None]] = Counter()
    for log in logs:
        for position, event in enumerate(log.events):
            for slot in slots_of(event):
                name = bound(event, slot, log, shapes)
                occasions[event.tool, slot] += 1
                before = {e.tool for e in log.events[:position] if e.ok and e.about(name)}
                held.update(Precedence(event.tool, tool, slot) for tool in before if tool != event.tool)
    return [relation for relation, kept in held.items() if _holds(kept, occasions[relation.tool, relation.slot])]


def latest(events: Sequence[Event], tool: str, name: str | None) -> Event | None:
    """Return the last event of a tool that worked on an object."""
    return next((event for event in reversed(events) if event.tool == tool and event.ok and event.about(name)), None)


def _guards(logs: Sequence[Log], shapes: dict[str, tuple[str, ...]]) -> list[Guard]:
    held: Counter[Guard] = Counter()
    occasions: Counter[tuple[str, str | None, str]] = Counter()
    for log in logs:
        for position, event in enumerate(log.events):
            for slot in slots_of(event)[1:]:
                name, earlier = bound(event, slot, log, shapes), log.events[:position]
                for tool in {e.tool for e in earlier if e.ok and e.about(name)} - {event.tool}:
                    by = latest(earlier, tool, name)
                    occasions[event.tool, slot, tool] += 1
                    for field, values in by.shown.items() if by is not None else ():
                        if len(values) == 1 and isinstance(values[0], bool):
                            held[Guard(event.tool, slot, tool, field, values[0])] += 1
    varying = {(g.by, g.field) for g in held if g._replace(value=not g.value) in held or _opposed(g, held)}
    return [g for g, n in held.items() if _holds(n, occasions[g.tool, g.slot, g.by]) and (g.by, g.field) in varying]


def _opposed(guard: Guard, held: Counter[Guard]) -> bool:
    """Return whether the field shows the other value somewhere: one that never varies guards nothing."""
    return any(g.by == guard.by and g.field == guard.field and g.value != guard.value for g in held)


def candidates(event: Event, arg: str, log: Log, position: int, shapes: dict[str, tuple[str, ...]]) -> set[Source]:
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


def _sources(logs: Sequence[Log], shapes: dict[str, tuple[str, ...]]) -> list[Source]:
    seen: dict[tuple[str, str], Counter[frozenset[Source]]] = defaultdict(Counter)
    for log in logs:
        for position, event in enumerate(log.events):
            for arg in event.args:
                seen[event.tool, arg][frozenset(candidates(event, arg, log, position, shapes))] += 1
    return [source for counts in seen.values() for source in _cover(counts)]


def _cover(counts: Counter[frozenset[Source]]) -> list[Source]:
    """Return the fewest sources that explain an argument, or none where it is not drawn from anything that is seen.

    Sources on the same object are preferred to the same ones anywhere; those that explain equally many are kept together.
    """
    left, total = counts.copy(), sum(counts.values())
    kept: list[Source] = []
    while left and sum(left.values()) > TOLERATED * total:
        gain: Counter[Source] = Counter()
        for sources, count in left.items():
            gain.update(dict.fromkeys(sources, count))
        if not gain:
            return []
        most = max(gain.values())
        best = [source for source in gain if gain[source] == most]
        bound_ones = [source for source in best if source.slot is not None]
        kept += bound_ones or best
        left = Counter({sources: n for sources, n in left.items() if not sources.intersection(kept)})
    return kept if total >= SUPPORT else []


def _unique(logs: Sequence[Log]) -> list[Unique]:
    once: Counter[Unique] = Counter()
    occasions: Counter[Unique] = Counter()
    for log in logs:
        worked: Counter[tuple[str, str | None, str | None]] = Counter()
        for event in log.events:
            if event.ok:
                worked.update((event.tool, s, None if s is None else str(event.args[s])) for s in slots_of(event))
        for (tool, slot, _), count in worked.items():
            occasions[Unique(tool, slot)] += 1
            once[Unique(tool, slot)] += count == 1
    return [relation for relation, of in occasions.items() if _holds(once[relation], of)]


def requested(log: Log, slot: str, shapes: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the objects of a slot's kind that the task names."""
    return [name for name in log.asked if shape(name) in shapes.get(slot, ())]


def _required(logs: Sequence[Log], shapes: dict[str, tuple[str, ...]]) -> list[Required]:
    kept: list[Required] = []
    for slot in shapes:
        called = [
            {event.tool for event in log.events if event.ok and event.about(name)}
            for log in logs
            for name in requested(log, slot, shapes)
        ]
        tools = sorted(set().union(*called)) if called else []
        always = [tool for tool in tools if _holds(sum(tool in of for of in called), len(called))]
        kept += [Required(slot, (tool,)) for tool in always]
        kept += [
            Required(slot, pair)
            for pair in combinations([tool for tool in tools if tool not in always], 2)
            if _holds(sum(len(of.intersection(pair)) == 1 for of in called), len(called))
        ]
    return kept
