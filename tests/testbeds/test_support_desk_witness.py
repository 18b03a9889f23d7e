"""The witness finds each labelled fault and no other, without the injector or the rules."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import replace

import pytest

from trajaudit.testbeds.support_desk import generate, witness
from trajaudit.testbeds.support_desk.witness import Found
from trajaudit.trajectory import Action, Step, Trajectory


def labelled(run: Trajectory) -> list[Found]:
    return [Found(fault.type, fault.step) for fault in run.label.faults]


@pytest.mark.parametrize(
    ("preset", "wording", "cascades", "n"),
    [("paper", "a", 0.0, 5000), ("varied", "a", 0.0, 2500), ("varied", "b", 0.0, 2500), ("varied", "a", 1.0, 1200)],
)
def test_every_labelled_fault_is_there_and_is_the_only_one(preset: str, wording: str, cascades: float, n: int):
    seen: Counter[str] = Counter()
    for run in generate(preset, n, 21, wording, cascades):
        assert witness(run) == labelled(run), run
        seen.update(fault.type for fault in run.label.faults)
    assert len(seen) == 6


def test_the_witness_shares_no_code_with_the_injector_and_the_rules():
    source = inspect.getsource(inspect.getmodule(Found))
    imports = [line for line in source.splitlines() if line.startswith(("from", "import"))]
    assert imports
    assert not any(
        word in line for line in imports for word in ("faults", "rules", "replay", "oracle", "world", "generator")
    )


def changed(run: Trajectory, at: int, args: dict) -> Trajectory:
    steps = list(run.steps)
    steps[at] = replace(steps[at], action=Action(steps[at].action.tool, {**steps[at].action.args, **args}))
    return replace(run, steps=tuple(steps), label=None)


def clean_runs(preset: str) -> list[Trajectory]:
    return [run for run in generate(preset, 160, 2) if not run.label.faulty]


@pytest.mark.parametrize("preset", ["paper", "varied"])
def test_a_fault_that_no_injector_made_is_found_too(preset: str):
    for run in clean_runs(preset):
        reply = len(run.steps) - 1
        text = run.steps[reply].action.args["text"]
        boast = changed(run, reply, {"text": f"{text}\nWe also upgraded you to gold membership."})
        assert witness(boast) == [Found("unsupported_claim", reply)]
        cut = replace(run, steps=run.steps[:-1], label=None)
        assert witness(cut) == [Found("premature_stop", reply - 1)]
        lookup = next(step.index for step in run.steps if step.action.tool == "lookup_order")
        assert Found("hallucinated_argument", lookup) in witness(changed(run, lookup, {"order_id": "ORD-1"}))


def test_another_value_in_a_known_sentence_is_not_borne_out():
    shifted = 0
    for run in clean_runs("varied"):
        reply = len(run.steps) - 1
        lines = run.steps[reply].action.args["text"].split("\n")
        for i, line in enumerate(lines):
            other = line.replace(" 5 ", " 6 ").replace("Monday", "Sunday").replace("paused", "doubled")
            if other != line:
                text = "\n".join([*lines[:i], other, *lines[i + 1 :]])
                assert witness(changed(run, reply, {"text": text})) == [Found("unsupported_claim", reply)]
                shifted += 1
    assert shifted > 5


def test_the_echo_of_a_wrong_refund_is_forgiven_only_where_the_refund_is_found_at_fault():
    run = next(run for run in generate(n=400) if run.label.faulty and run.label.first.type == "ignored_observation")
    assert [found.type for found in witness(run)] == ["ignored_observation"]
    healthy = next(r for r in clean_runs("paper") if "has been paid back" in r.final_answer)
    reply = len(healthy.steps) - 1
    amount = healthy.steps[4].action.args["amount_eur"]
    text = healthy.final_answer.replace(f"{amount:.2f}", f"{amount + 1:.2f}")
    assert witness(changed(healthy, reply, {"text": text})) == [Found("unsupported_claim", reply)]


def test_a_repeated_read_beside_the_policy_is_harmless_and_instead_of_it_is_not():
    run = next(run for run in clean_runs("paper"))
    again = run.steps[1]
    beside = [*run.steps[:2], again, *run.steps[2:]]
    instead = [*run.steps[:2], again, *run.steps[3:]]
    for steps, expected in ((beside, []), (instead, [Found("wrong_tool", 2)])):
        numbered = tuple(Step(i, s.thought, s.action, s.observation) for i, s in enumerate(steps))
        assert witness(replace(run, steps=numbered, label=None)) == expected
