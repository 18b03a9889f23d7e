"""The edits that faults are made of: another argument, a false statement, a sentence more, calls left out.

An edit touches one call and keeps the others' thoughts; where calls are left out, what they were meant for is thought
at the call that comes in their place.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajaudit.testbeds.asset_ops.claims import Claim
from trajaudit.testbeds.asset_ops.instances import Unfit
from trajaudit.testbeds.asset_ops.speech import Answer, Lie, Thought
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Course, Edit

Calls = Sequence[Call]


def position(calls: Calls, stage: str) -> int:
    for position, call in enumerate(calls):
        if call.stage == stage:
            return position
    raise Unfit


def last_report(calls: Calls) -> int:
    """Return the position of the last agent's answer before the summary."""
    return max(i for i, call in enumerate(calls) if call.stage.startswith("finish."))


def changed(call: Call, **args: object) -> Call:
    """Return the call with some of its arguments replaced, whatever the others turn out to be."""
    given = call.args

    def late(course: Course) -> Arguments | None:
        before = given if isinstance(given, dict) else given(course)
        return None if before is None else {**before, **args}

    return call._replace(args=late)


def lying_thought(fault: str, lie: Lie, kinds: tuple[str, ...], calls: Calls, draw: Draw) -> Edit:
    """One of the notes states what was not seen."""
    noting = [i for i, call in enumerate(calls) if isinstance(call.thought, Thought) and call.thought.note is not None]
    fitting = [i for i in noting if calls[i].thought.note.kind in kinds]  # type: ignore[union-attr]
    if not fitting:
        raise Unfit
    at = draw.pick(fitting)
    thought = calls[at].thought
    assert isinstance(thought, Thought)
    lying = Thought(thought.key, thought.wording, thought.intention, thought.note, lie, thought.also)
    return Edit(fault, at, "thought", {at: calls[at]._replace(thought=lying)})


def lying_answer(fault: str, lie: Lie, calls: Calls, at: int) -> Edit:
    answer = calls[at].args
    assert isinstance(answer, Answer)
    lying = Answer(answer.key, answer.wording, answer.claims, lie, answer.more)
    return Edit(fault, at, "final_answer", {at: calls[at]._replace(args=lying)})


def adding(fault: str, calls: Calls, at: int, claim: Claim) -> Edit:
    answer = calls[at].args
    assert isinstance(answer, Answer)
    longer = Answer(answer.key, answer.wording, answer.claims, answer.lie, (claim,))
    return Edit(fault, at, "final_answer", {at: calls[at]._replace(args=longer)})


def replacing(fault: str, calls: Calls, stage: str, **args: object) -> Edit:
    at = position(calls, stage)
    return Edit(fault, at, "action", {at: changed(calls[at], **args)})


def without(calls: Calls, stages: Sequence[str], before: str) -> dict[int, Call | None]:
    """Leave out calls, their repetitions included; what they were meant for is thought at the stage ``before``."""
    at = position(calls, before)
    gone = [i for i, call in enumerate(calls) if call.stage.removesuffix(".retry") in stages]
    thoughts = [t for i in gone if isinstance(t := calls[i].thought, Thought) and not calls[i].stage.endswith(".retry")]
    thought = calls[at].thought
    if not thoughts or not isinstance(thought, Thought):
        raise Unfit
    return {**dict.fromkeys(gone), at: calls[at]._replace(thought=thought.after(*thoughts))}
