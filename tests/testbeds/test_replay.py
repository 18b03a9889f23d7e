"""The shared injector: an edit is replayed from the beginning, and nothing in a faulty run is written by hand."""

from __future__ import annotations

import pytest

from trajaudit.testbeds.replay import Call, Course, Edit, carry_out, edited, replay


class Counter:
    """An environment with state: it answers each call with how many it has had."""

    def __init__(self) -> None:
        self.calls = 0

    def call(self, tool, args):
        self.calls += 1
        return {"n": self.calls, "tool": tool}


CALLS = [
    Call(stage, None, f"think {stage}", stage, {"x": i}) for i, stage in enumerate(("one", "two", "three", "four"))
]


def test_a_replay_starts_in_a_fresh_environment_each_time():
    assert [step.observation["n"] for step in replay(CALLS, Counter())] == [1, 2, 3, 4]
    assert replay(CALLS, Counter()) == replay(CALLS, Counter())


def test_what_follows_an_edit_is_answered_anew():
    calls, faults = edited(CALLS, [Edit("skipped", 2, "action", {1: None})])
    steps = replay(calls, Counter())
    assert [step.action.tool for step in steps] == ["one", "three", "four"]
    assert [step.observation["n"] for step in steps] == [1, 2, 3]
    assert [step.index for step in steps] == [0, 1, 2]
    assert [(fault.type, fault.step, fault.component) for fault in faults] == [("skipped", 1, "action")]


def test_late_arguments_are_worked_out_from_the_steps_as_they_happened():
    last = Call(
        "reply", None, None, "reply", lambda steps: {"text": f"{len(steps)} steps, last {steps[-1].observation['n']}"}
    )
    calls, _ = edited([*CALLS, last], [Edit("skipped", 3, "action", {0: None})])
    assert replay(calls, Counter())[-1].action.args == {"text": "3 steps, last 3"}


def test_faults_of_a_cascade_are_labelled_at_their_steps_after_all_edits():
    wrong = CALLS[3]._replace(tool="five")
    calls, faults = edited(CALLS, [Edit("b", 3, "action", {3: wrong}), Edit("a", 2, "action", {0: None, 2: CALLS[2]})])
    assert [(fault.type, fault.step) for fault in faults] == [("a", 1), ("b", 2)]
    assert [call.tool for call in calls] == ["two", "three", "five"]


def test_two_edits_of_one_call_are_refused():
    edit = Edit("a", 1, "action", {1: CALLS[0]})
    with pytest.raises(ValueError, match=r"edit 'b': calls \[1\] are already changed"):
        edited(CALLS, [edit, edit._replace(type="b")])


def test_a_fault_cannot_sit_at_a_call_that_is_removed():
    with pytest.raises(ValueError, match="edit 'a': the call that its fault sits at is removed"):
        edited(CALLS, [Edit("a", 1, "action", {1: None})])


def test_an_edit_leaves_the_script_itself_alone():
    before = list(CALLS)
    edited(CALLS, [Edit("a", 0, "action", {0: CALLS[1], 1: None})])
    assert before == CALLS


def test_a_call_whose_arguments_come_out_as_none_is_not_made_and_steps_keep_their_positions():
    def if_needed(course: Course):
        return {"again": True} if course.at["two", None].observation["n"] > 2 else None

    retry = Call("retry", None, "try again", "two", if_needed)
    steps, positions = carry_out([*CALLS[:2], retry, *CALLS[2:]], Counter())
    assert [step.action.tool for step in steps] == ["one", "two", "three", "four"]
    assert (positions, [step.index for step in steps]) == ([0, 1, 3, 4], [0, 1, 2, 3])
    steps, positions = carry_out([CALLS[0], *CALLS[:2], retry], Counter())
    assert steps[-1].action.args == {"again": True}
    assert positions == [0, 1, 2, 3]


def test_a_late_thought_tells_of_the_steps_as_they_happened_and_the_agent_is_kept():
    def thought(course: Course) -> str:
        return f"seen {course[-1].observation['n']}"

    steps = replay([CALLS[0], Call("two", None, thought, "two", {}, "IoT")], Counter())
    assert [(step.thought, step.agent) for step in steps] == [("think one", None), ("seen 1", "IoT")]
