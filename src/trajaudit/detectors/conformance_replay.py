"""A run replayed against a process model: where it leaves what clean runs have in common, and in what way.

Two choices decide what a deviation is called and where it is placed. A call that is missing before another one has two
causes: where the later call draws one of its arguments from it, a check was *skipped*, at the later call; where nothing
is drawn from it and a needless call stands in between (one that had been made and had worked, or one that is made once
more later), that call stands *instead*, and is where the run went wrong. And a missing call is told once, where it is
first missed, since everything after it misses it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from trajaudit.detectors.conformance_log import Event, Log
from trajaudit.detectors.conformance_model import (
    TASK,
    Precedence,
    ProcessModel,
    bound,
    candidates,
    latest,
    requested,
)

KINDS = ("skipped", "instead", "ungrounded", "drawn_elsewhere", "against", "repeated", "unfinished", "unknown_tool")
"""What can be wrong: a missing call, a needless one in its place, an argument from nowhere, or from another field than
in clean runs, a call against what was shown, one made twice, an end unlike that of clean runs, a tool never seen."""


class Deviation(NamedTuple):
    """A departure from the model: its kind, the step, and in words what was expected and what was done."""

    kind: str
    step: int
    message: str


def deviations(log: Log, model: ProcessModel) -> list[Deviation]:
    """Return every deviation of a run, in step order."""
    found: list[Deviation] = []
    missed: set[tuple[str, str | None]] = set()
    for position, event in enumerate(log.events):
        if event.tool not in model.tools:
            found.append(Deviation("unknown_tool", event.step, f"{event.tool}: no clean run calls it"))
            continue
        missing = list(_missing(log, position, model, missed))
        argued = list(_arguments(log, position, model))
        found += [d for d in argued if d.kind == "ungrounded" or not missing]
        found += [_placed(log, position, relation, model, found) for relation in missing]
        found += _against(log, position, model)
        found += _repeated(log, position, model)
    found += _unfinished(log, model)
    return sorted(dict.fromkeys(found), key=lambda d: d.step)


def _missing(log: Log, position: int, model: ProcessModel, missed: set[tuple[str, str | None]]) -> Iterator[Precedence]:
    """Yield the relations to earlier calls that do not hold, each missing call on each object once."""
    event, earlier = log.events[position], log.events[:position]
    for relation in model.precedence:
        if relation.tool != event.tool:
            continue
        name = bound(event, relation.slot, log, model.shapes)
        if relation.slot is not None and name is None:
            continue
        if latest(earlier, relation.before, name) is not None or (relation.before, name) in missed:
            continue
        known = {(relation.before, None), (relation.before, name)}
        if relation.slot is None and any(before == relation.before for before, _ in missed):
            continue
        missed |= known
        yield relation


def _placed(log: Log, position: int, relation: Precedence, model: ProcessModel, found: list[Deviation]) -> Deviation:
    """Return the deviation for a missing call: at the needless call in its place, else at the one that misses it."""
    event = log.events[position]
    drawn = any(s.tool == event.tool and s.by == relation.before and s.slot == relation.slot for s in model.sources)
    what = f"{event.tool}: expected {relation.before} before it, which did not happen"
    botched = any(d.kind == "ungrounded" and log.events[d.step].tool == relation.before for d in found)
    if drawn or botched:
        return Deviation("skipped", event.step, what)
    name = bound(event, relation.slot, log, model.shapes)
    instead = _needless(log, position, relation, name, model)
    if instead is None:
        return Deviation("skipped", event.step, what)
    return Deviation("instead", instead.step, f"{instead.tool} was called where {relation.before} was due")


def _needless(log: Log, position: int, relation: Precedence, name: str | None, model: ProcessModel) -> Event | None:
    """Return the call that most likely stands in the place of a missing one, or null.

    Of several needless ones it is the one in whose place the missing call would have been least surprising.
    """
    event, earlier = log.events[position], log.events[:position]
    if event.ok and any(later.call == event.call for later in log.events[position + 1 :]):
        return event
    due = {r.before for r in model.precedence if r.tool == relation.before}
    opened = min((i for i, e in enumerate(earlier) if e.tool in due and e.ok and e.about(name)), default=-1)
    places = [i for i in range(opened + 1, position) if _made_before(log.events, i)]
    if not places:
        return None
    return log.events[max(places, key=lambda i: _gain(log.events, i, relation.before, name, model))]


def _gain(events: Sequence[Event], at: int, tool: str, name: str | None, model: ProcessModel) -> float:
    """Return how much likelier the run's order of calls would be with a call of ``tool`` at this place."""
    objects = events[at].objects if name is None else frozenset((name,))
    around = [events[at - 1], events[at], events[at + 1]]
    better = [around[0], events[at]._replace(tool=tool, objects=objects), around[2]]
    return _likelihood(better, model) - _likelihood(around, model)


def _likelihood(events: Sequence[Event], model: ProcessModel) -> float:
    """Return the log-likelihood of a stretch of calls, each given the one before; unseen pairs count a half."""
    total = 0.0
    for a, b in pairwise(events):
        from_a = [row for row in model.follows if row.tool == a.tool]
        seen = sum(row.times for row in from_a if row.after == b.tool and row.shared == bool(a.objects & b.objects))
        total += math.log((seen + 0.5) / (sum(row.times for row in from_a) + 1.0))
    return total


def _made_before(events: Sequence[Event], position: int) -> bool:
    """Return whether the very call had been made before, and had worked."""
    return any(other.ok and other.call == events[position].call for other in events[:position])


def _arguments(log: Log, position: int, model: ProcessModel) -> Iterator[Deviation]:
    event = log.events[position]
    for arg, value in event.args.items():
        known = {s for s in model.sources if s.tool == event.tool and s.arg == arg}
        if not known:
            continue
        found = candidates(event, arg, log, position, model.shapes)
        if found & known:
            continue
        where = " or ".join(sorted({s.by if s.by == TASK else f"{s.by}.{s.field}" for s in known}))
        message = f"{event.tool}.{arg}: expected a value from {where}, got {value!r}"
        yield Deviation("drawn_elsewhere" if found else "ungrounded", event.step, message)


def _against(log: Log, position: int, model: ProcessModel) -> Iterator[Deviation]:
    event, earlier = log.events[position], log.events[:position]
    for guard in model.guards:
        if guard.tool != event.tool:
            continue
        name = bound(event, guard.slot, log, model.shapes)
        by = latest(earlier, guard.by, name) if name is not None else None
        shown = by.shown.get(guard.field) if by is not None else None
        if shown is not None and shown != (guard.value,):
            message = f"{event.tool}: expected {guard.by}.{guard.field} to be {guard.value}, it was {shown[0]}"
            yield Deviation("against", event.step, message)


def _repeated(log: Log, position: int, model: ProcessModel) -> Iterator[Deviation]:
    event, earlier = log.events[position], log.events[:position]
    for relation in model.unique:
        if relation.tool != event.tool or (relation.slot is not None and relation.slot not in event.args):
            continue
        name = bound(event, relation.slot, log, model.shapes)
        if latest(earlier, event.tool, name) is not None:
            yield Deviation("repeated", event.step, f"{event.tool}: expected once, this is another time")


def _unfinished(log: Log, model: ProcessModel) -> Iterator[Deviation]:
    """Yield where the run ended without its last call, or else without what the objects of its task need."""
    last = log.events[-1]
    if last.tool not in model.ends and model.ends:
        yield Deviation(
            "unfinished", last.step, f"expected the run to end with {' or '.join(model.ends)}, not {last.tool}"
        )
        return
    for required in model.required:
        for name in requested(log, required.slot, model.shapes):
            if not any(e.tool in required.tools and e.about(name) for e in log.events) and len(required.tools) > 1:
                message = f"{name}: expected one of {', '.join(required.tools)}, none was called"
                yield Deviation("unfinished", last.step, message)
