"""The injector that testbeds share: edit a list of calls at one known step, then replay it in a fresh environment.

No observation of a faulty run is written by hand. The scripted agent's run is reduced to its calls, an edit replaces
or removes some of them, and the edited list is carried out again from the beginning, so that whatever the environment
answers to the fault (an error, a permissive yes) is its own answer (testbed paper, section 3). Arguments and thoughts
that are a function are worked out during the replay from the steps so far: a reply composed that way tells what really
happened, which keeps the injected fault the only one, and a call that turns out to have no cause is not made at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from trajaudit._fields import Json
from trajaudit.trajectory import Action, Fault, Step

Arguments = dict[str, Json]


class Course(list[Step]):
    """The steps taken so far, which ``at`` also finds by the (stage, subject) of the call that each came from."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[tuple[str, int | None], Step] = {}


Late = Callable[[Course], Arguments | None]
"""Arguments that are worked out from the steps taken so far; null where the call is not made after what happened."""
LateThought = Callable[[Course], str | None]


class Environment(Protocol):
    """A world with state: it answers one call after another and never raises for what an agent asks of it."""

    def call(self, tool: str, args: Arguments) -> Json: ...


class Call(NamedTuple):
    """One call of a script. ``stage`` and ``subject`` say what it is for; they never reach a trajectory."""

    stage: str
    subject: int | None
    thought: str | LateThought | None
    tool: str
    args: Arguments | Late
    agent: str | None = None


class Edit(NamedTuple):
    """One fault as an edit of a script.

    ``changes`` maps positions in the script to the call that stands there instead, or to None where the call is
    removed; ``at`` is the position that the fault sits at, and must survive the edit.
    """

    type: str
    at: int
    component: str
    changes: Mapping[int, Call | None]


def replay(calls: Sequence[Call], environment: Environment) -> tuple[Step, ...]:
    """Carry out a script from the beginning in ``environment`` and return its steps."""
    return carry_out(calls, environment)[0]


def carry_out(calls: Sequence[Call], environment: Environment) -> tuple[tuple[Step, ...], list[int]]:
    """Carry out a script and return its steps, and for each step its position in the script."""
    course, positions = Course(), []
    for position, (stage, subject, thought, tool, args, agent) in enumerate(calls):
        given = args if isinstance(args, dict) else args(course)
        if given is None:
            continue
        said = thought(course) if callable(thought) else thought
        step = Step(len(course), said, Action(tool, given), environment.call(tool, given), agent)
        course.append(step)
        course.at[stage, subject] = step
        positions.append(position)
    return tuple(course), positions


def edited(calls: Sequence[Call], edits: Sequence[Edit]) -> tuple[list[Call], tuple[Fault, ...]]:
    """Return the script after one edit or more, and its faults in step order, each at its step in the *edited* run.

    Raises:
        ValueError: where two edits touch one call, or an edit removes the call that its fault sits at.
    """
    changes = dict(edits[0].changes)
    for edit in edits[1:]:
        if both := changes.keys() & edit.changes.keys():
            raise ValueError(f"edit {edit.type!r}: calls {sorted(both)} are already changed by another edit")
        changes.update(edit.changes)
    new = [kept for position, call in enumerate(calls) if (kept := changes.get(position, call)) is not None]
    faults = []
    for edit in edits:
        if edit.at in changes and changes[edit.at] is None:
            raise ValueError(f"edit {edit.type!r}: the call that its fault sits at is removed")
        removed = sum(call is None and position < edit.at for position, call in changes.items())
        faults.append(Fault(edit.type, edit.at - removed, edit.component))
    return new, tuple(sorted(faults, key=lambda fault: fault.step or 0))
