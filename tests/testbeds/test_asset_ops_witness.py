"""The witness finds each labelled fault of the plant and no other, without the injector or the rules."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import replace

import pytest

from trajaudit.testbeds.asset_ops import Found, generate, readings, record, witness
from trajaudit.testbeds.asset_ops.witness import witnessed
from trajaudit.trajectory import Action, Trajectory


@pytest.mark.parametrize(
    ("preset", "wording", "n"),
    [("varied", "a", 1400), ("varied", "b", 1400), ("mixture", "a", 950), ("single", "b", 700)],
)
def test_every_labelled_fault_is_there_and_is_the_only_one(preset: str, wording: str, n: int):
    seen: Counter[str] = Counter()
    for run in generate(preset, n, 21, wording):
        assert witnessed(run), (run.label, witness(run), run)
        seen.update(fault.type for fault in run.label.faults)
    assert len(seen) == 5


def test_the_witness_shares_no_code_with_the_injector_and_the_rules():
    for module in (inspect.getmodule(Found), readings, record):
        source = inspect.getsource(module)
        imports = [line for line in source.splitlines() if line.startswith(("from", "import"))]
        banned = (
            "faults",
            "edits",
            "lies",
            "rules",
            "vocabulary",
            "replay",
            "families",
            "observed",
            "world",
            "generator",
        )
        assert imports
        assert not any(word in line for line in imports for word in banned)


def runs_of(family: str) -> list[Trajectory]:
    return [r for r in generate("varied", 1400, 2) if r.source.meta["family"] == family and not r.label.faulty]


def edited(run: Trajectory, at: int, **changes: object) -> Trajectory:
    steps = list(run.steps)
    steps[at] = replace(steps[at], **changes)
    return replace(run, steps=tuple(steps), label=None)


def said(run: Trajectory, at: int, old: str, new: str) -> Trajectory:
    action = run.steps[at].action
    answer = action.args["answer"]
    assert old in answer
    return edited(run, at, action=Action(action.tool, {**action.args, "answer": answer.replace(old, new)}))


def test_faults_that_no_injector_made_are_found_too():
    for run in runs_of("limit"):
        at = len(run.steps) - 1
        side = "above" if " above " in run.final_answer else "below"
        other = {"above": "below", "below": "above"}[side]
        assert witness(said(run, at, f" {side} ", f" {other} ")) == [Found("logical", at)]
        value = next(
            word
            for word in run.final_answer.split()
            if word.count(".") == 1 and word[0].isdigit() and word[-1].isdigit()
        )
        assert Found("factual", at) in witness(said(run, at, value, "1.23"))
    for run in runs_of("asset_list"):
        at = len(run.steps) - 1
        name = run.final_answer.split(": ")[1].split(",")[0]
        assert witness(said(run, at, name, "Chiller 77")) == [Found("referential", at)]
        assert witness(edited(run, 1, agent="WO")) == [Found("scope", 1)]


def test_the_echo_of_a_fault_is_none():
    run = runs_of("trend")[0]
    report, summary = len(run.steps) - 2, len(run.steps) - 1
    direction = "rising" if "rising" in run.final_answer else "falling"
    other = {"rising": "falling", "falling": "rising"}[direction]
    once = said(run, report, direction, other)
    twice = said(once, summary, direction, other)
    assert witness(once) == witness(twice) == [Found("logical", report)]
