"""Marks say which values a run takes from nowhere, as each paradigm can know it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajaudit.detectors.marks import MARK, Known, marked
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.trajectory import Action, Source, Step, Trajectory


def _run(*steps: Step, task: str = "Check T-1.", answer: str | None = None) -> Trajectory:
    return Trajectory("r", "g", task, steps, answer, Source("test"))


def test_a_value_counts_as_known_when_it_is_rounded_and_not_when_a_digit_differs() -> None:
    known = Known(["mean 41.267 and total 1,250.50, file /tmp/a-7.json, ORD-31"])
    held = {value: known.holds(value) for value in ("41.27", "41.3", "41.72", "1250.5", "€1,250.50", "ORD-31", "ORD-3")}
    assert held == {
        "41.27": True,
        "41.3": True,
        "41.72": False,
        "1250.5": True,
        "€1,250.50": True,
        "ORD-31": True,
        "ORD-3": True,  # part of a longer identifier: told apart by nothing but a tokenizer, so left to the encoder
    }


def test_digits_inside_another_number_do_not_make_a_number_known() -> None:
    assert not Known(["15.38 psi"]).holds("5.38")


def test_a_name_is_its_word_and_its_number_together() -> None:
    known = Known(["Chiller 1 and Pump 9 are fitted."])
    assert known.marked("Chiller 9 reads 1; Pump 9 and 9 more.") == f"Chiller 9 {MARK} reads 1; Pump 9 and 9 more."


def test_a_word_before_a_number_is_no_name_unless_it_was_one_before() -> None:
    assert Known(["5 sensors"]).marked("The 5 sensors") == "The 5 sensors"


def test_a_step_classifier_learns_nothing_of_earlier_steps_from_its_marks() -> None:
    first = Step(0, "Look.", Action("read", {"sensor": "S-1"}), {"mean": 31.5})
    second = Step(1, "S-1 is at 31.5.", Action("close", {}), "done")
    by_step = marked(_run(first, second), "step").steps[1]
    assert by_step == marked(_run(replace(first, observation={"mean": 99}), second), "step").steps[1]
    assert by_step.thought == f"S-1 {MARK} is at 31.5 {MARK}."
    assert marked(_run(first, second), "history").steps[1].thought == "S-1 is at 31.5."


def test_what_came_later_never_makes_a_value_known() -> None:
    steps = (Step(0, "It will be 77.", None, None), Step(1, None, Action("read", {}), "77"))
    assert marked(_run(*steps), "history").steps[0].thought == f"It will be 77 {MARK}."


def test_a_value_is_new_once() -> None:
    steps = (Step(0, "Say 77.", None, None), Step(1, "Again 77.", None, None))
    run = marked(_run(*steps, answer="77"), "history")
    assert [step.thought for step in run.steps] == [f"Say 77 {MARK}.", "Again 77."]
    assert run.final_answer == "77"


def test_arguments_of_a_call_are_marked_wherever_they_sit() -> None:
    args = {"order": "ORD-2", "amounts": [5, 6.5], "to": {"name": "Ann"}, "now": True}
    step = Step(0, None, Action("pay", args), {"paid": 5})
    found = marked(_run(step, task="Pay 5 to Ann"), "history").steps[0].action
    assert found is not None
    assert found.args == {"order": f"ORD-2 {MARK}", "amounts": [5, f"6.5 {MARK}"], "to": {"name": "Ann"}, "now": True}


@given(st.text(max_size=60))
def test_marks_add_words_and_change_none(text: str) -> None:
    assert Known().marked(text).replace(f" {MARK}", "") == text.replace(f" {MARK}", "")


@given(st.text(max_size=60))
def test_a_text_that_was_said_before_has_no_new_value(text: str) -> None:
    assert Known([text]).marked(text).count(MARK) == text.count(MARK)


@pytest.mark.parametrize(("kind", "least"), [("referential", 0.8), ("factual", 0.5)])
def test_faults_that_invent_a_value_are_marked_at_their_step(kind: str, least: float) -> None:
    runs = asset_ops(preset="varied", n=200, seed=3, wording="a", procedure="asset_ops").prefix(None)
    faulty = [run for run in runs if run.label and run.label.faults and run.label.faults[0].type == kind]
    at_step = 0
    for run in faulty:
        step = marked(run, "history").steps[run.label.faults[0].step]  # type: ignore[union-attr, index]
        at_step += MARK in f"{step.thought} {step.action}"
    assert at_step / len(faulty) > least
