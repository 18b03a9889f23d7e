"""Mining a process model from clean runs.

A relation is kept where it held in all but ``TOLERATED`` of at least ``SUPPORT`` occasions in the training runs.
Healthy detours (repeated reads, a record read for context, a call that failed and was made again) need no rule of
their own: what they break was broken in training too, and is not kept. No label of a fault is needed, only runs known,
or taken, to be clean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from trajaudit.detectors.conformance_log import Log, names, shape
from trajaudit.detectors.conformance_model import (
    Follows,
    Guard,
    Precedence,
    ProcessModel,
    Required,
    Shapes,
    Source,
    Unique,
    bound,
    candidates,
    latest,
    requested,
    slots_of,
)

SUPPORT = 20
TOLERATED = 0.002
_KINDS = 10
"""An argument whose values have more shapes than this names no kind of object (an email does not)."""


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
        _follows(logs),
        shapes,
    )


def _holds(kept: int, of: int) -> bool:
    return of >= SUPPORT and kept >= (1 - TOLERATED) * of


def _shapes(logs: Iterable[Log]) -> Shapes:
    found: dict[str, set[str]] = defaultdict(set)
    for log in logs:
        for event in log.events:
            for name, value in event.args.items():
                if names(value):
                    found[name].add(shape(value))
    return {name: tuple(sorted(of)) for name, of in sorted(found.items()) if len(of) <= _KINDS}


def _precedence(logs: Sequence[Log], shapes: Shapes) -> list[Precedence]:
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


def _guards(logs: Sequence[Log], shapes: Shapes) -> list[Guard]:
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


def _sources(logs: Sequence[Log], shapes: Shapes) -> list[Source]:
    seen: dict[tuple[str, str], Counter[frozenset[Source]]] = defaultdict(Counter)
    for log in logs:
        for position, event in enumerate(log.events):
            for arg in event.args:
                seen[event.tool, arg][frozenset(candidates(event, arg, log, position, shapes))] += 1
    return [source for counts in seen.values() for source in _cover(counts)]


def _cover(counts: Counter[frozenset[Source]]) -> list[Source]:
    """Return the fewest sources that explain an argument, or none where it is not drawn from anything that is seen.

    Those that explain equally many are kept together, but a source on the same object is preferred to one anywhere.
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


def _follows(logs: Sequence[Log]) -> tuple[Follows, ...]:
    counts = Counter((a.tool, b.tool, bool(a.objects & b.objects)) for log in logs for a, b in pairwise(log.events))
    return tuple(Follows(*key, count) for key, count in sorted(counts.items()))


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


def _required(logs: Sequence[Log], shapes: Shapes) -> list[Required]:
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
