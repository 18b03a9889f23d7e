"""Fitting a record into a context window without cutting anything in silence.

What is left out, and in which order, decides which faults a judge can still see, so the policy is fixed and part of the
spec. Goal and final answer stay whole. First the longest observations lose their middles, all down to one length, so
that a short observation is never touched for a long one. If that is not enough, thoughts and actions are shortened
alike. Only then whole steps go, from the middle outwards, the first and the last never. Every gap is a note with the
record's mark, the prompt says that what is not shown was not skipped, and the verdict counts the gap in ``unseen``.
What still does not fit is an overflow, not a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from trajaudit.judges.view import Part, fenced, mark_of, parts_of
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Unseen

VERSION = 1
SHORTEST = 200
"""Characters that a shortened text keeps at least: enough for an id, an amount and a status at both of its ends."""
_PRECISION = 32
"""The common length is searched to this many characters; finer would only cost tokenizer calls."""


@dataclass(frozen=True)
class Record:
    """A fenced record that fits, its mark, and what of the trajectory it leaves out (null where nothing)."""

    text: str
    mark: str
    unseen: Unseen | None = None


@dataclass(frozen=True)
class _Draft:
    """The parts of a shortened record, and what was taken out of it."""

    parts: list[Part]
    removed: list[Part]


@dataclass(frozen=True)
class _Stage:
    """One way to shorten: ``draft(size)`` for sizes from ``low`` to ``high``, searched to within ``precision``."""

    low: int
    high: int
    precision: int
    draft: Callable[[int], _Draft]

    def largest(self, fits: Callable[[_Draft], bool]) -> _Draft | None:
        """Return the draft of about the largest size that fits; null where the smallest does not."""
        low, high = self.low, self.high
        if not fits(self.draft(low)):
            return None
        while high - low > self.precision:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(self.draft(middle)) else (low, middle)
        return self.draft(low)


def fit(trajectory: Trajectory, view: str, budget: int | None, count: Callable[[str], int]) -> Record | None:
    """Return the most complete record of at most ``budget`` tokens, null where even the shortest one is longer.

    Args:
        budget: tokens that the fenced record may take; null where the window is unknown: then all is shown.
        count: the number of tokens in a text.
    """
    parts, mark = parts_of(trajectory, view), mark_of(trajectory)
    full = fenced(parts, mark)
    if budget is None or count(full) <= budget:
        return Record(full, mark)

    def fits(draft: _Draft) -> bool:
        return count(fenced(draft.parts, mark)) <= budget

    found = next((draft for stage in _policy(parts, mark) if (draft := stage.largest(fits))), None)
    if found is None:
        return None
    steps = sorted({part.step for part in found.removed if part.step is not None})
    tokens = sum(count(part.text) for part in found.removed)
    return Record(fenced(found.parts, mark), mark, Unseen(tokens, tuple(steps)))


def _policy(parts: list[Part], mark: str) -> Iterator[_Stage]:
    """Yield the stages, mildest first."""
    longest = max((len(part.text) for part in parts if part.step is not None), default=0)
    everything = ("observation", "thought", "action")
    if longest > SHORTEST:
        for labels in (("observation",), everything):
            yield _Stage(SHORTEST, longest, _PRECISION, partial(_shortened, parts, mark, labels))
    steps = sorted({part.step for part in parts if part.step is not None})
    if len(steps) > 2:
        short = _shortened(parts, mark, everything, SHORTEST)
        yield _Stage(2, len(steps), 1, partial(_without_middle, parts, short, steps, mark))


def _shortened(parts: list[Part], mark: str, labels: tuple[str, ...], length: int) -> _Draft:
    """Cut the middle out of every text of these kinds that is longer than ``length`` characters."""
    draft = _Draft([], [])
    for part in parts:
        gap = len(part.text) - length
        note = f" [{mark}: {gap} characters not shown] "
        if part.label in labels and gap > len(note):
            head = length - length // 2
            draft.removed.append(replace(part, text=part.text[head : head + gap]))
            part = replace(part, text=part.text[:head] + note + part.text[head + gap :])
        draft.parts.append(part)
    return draft


def _without_middle(parts: list[Part], short: _Draft, steps: list[int], mark: str, keep: int) -> _Draft:
    """Keep ``keep`` steps, half of them from each end, with their texts as short as in ``short``."""
    gone = set(steps[keep - keep // 2 : len(steps) - keep // 2])
    note = Part("", f"[{mark}: steps {min(gone)} to {max(gone)} not shown]")
    before = [part for part in short.parts if part.step is None or part.step < min(gone)]
    after = [part for part in short.parts if part.step is not None and part.step > max(gone)]
    answer = before.pop()
    removed = [part for part in short.removed if part.step not in gone] + [part for part in parts if part.step in gone]
    return _Draft([*before, note, *after, answer], removed)
