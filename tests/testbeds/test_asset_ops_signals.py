"""Execution-quality flags of the plant: good on every healthy run, each lost by what it reads and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.instances import FAMILIES, Instance, Unfit, Wish, instance_of
from trajaudit.testbeds.asset_ops.signals import flags_of
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.replay import replay
from trajaudit.trajectory import Action, Source, Step, Trajectory


def instances(family: str, n: int, wording: str = "a") -> list[Instance]:
    """The first ``n`` instances of a family that can be drawn, lively ones."""
    found: list[Instance] = []
    for number in range(50 * n):
        try:
            found.append(instance_of(f"{family}|{wording}|{number}", "w", wording, Wish(family), lively=True))
        except Unfit:
            continue
        if len(found) == n:
            break
    return found


def oracle(it: Instance) -> Trajectory:
    steps = replay(oracle_script(it), Plant(it.world, it.key, it.troubles))
    return of_steps(it.goal, list(steps))


def of_steps(task: str, steps: list[Step]) -> Trajectory:
    """A run of these steps, renumbered, whose final answer is the last one's."""
    numbered = tuple(replace(step, index=i) for i, step in enumerate(steps))
    args = (numbered[-1].action.args or {}) if numbered[-1].action else {}
    return Trajectory("t", "g", task, numbered, args.get("answer"), Source("asset_ops"))


def changed(run: Trajectory, edit: Callable[[list[Step]], None]) -> set[str]:
    """The flags that a run loses by an edit of its steps."""
    steps = list(run.steps)
    edit(steps)
    return {name for name, good in flags_of(of_steps(run.task, steps)).items() if not good}


def place(steps: list[Step], tool: str) -> int:
    return next(i for i, step in enumerate(steps) if step.action and step.action.tool == tool)


def with_args(step: Step, **args: object) -> Step:
    assert step.action is not None
    return replace(step, action=Action(step.action.tool, {**(step.action.args or {}), **args}))


@pytest.mark.parametrize("wording", ["a", "b"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_healthy_run_has_all_five_flags_whatever_its_detours(family: str, wording: str) -> None:
    for it in instances(family, 12, wording):
        assert flags_of(oracle(it)) == dict.fromkeys(EXECUTION_FLAGS, True)


@pytest.fixture
def run() -> Trajectory:
    return oracle(instances("trend", 1)[0])


def test_a_run_without_its_last_answer_is_not_complete(run: Trajectory) -> None:
    assert changed(run, lambda steps: steps.pop()) == {"task_completion"}


def test_a_task_that_its_agent_never_ended_is_not_complete(run: Trajectory) -> None:
    assert changed(run, lambda steps: steps.pop(place(steps, "finish"))) == {"task_completion"}


def test_another_week_than_the_one_asked_about_is_inaccurate(run: Trajectory) -> None:
    def edit(steps: list[Step]) -> None:
        at = place(steps, "history")
        steps[at] = with_args(steps[at], start="2019-01-07")

    assert changed(run, edit) == {"data_retrieval_accuracy"}


def test_the_asset_asked_about_is_no_other_whose_name_begins_alike() -> None:
    run = oracle(instances("failure_modes", 1)[0])
    longer = replace(run, task=run.task.replace(run.steps[1].action.args["asset_name"], "Chiller 12"))
    steps = list(longer.steps)
    steps[1] = with_args(steps[1], asset_name="Chiller 1")
    assert "data_retrieval_accuracy" in {k for k, good in flags_of(of_steps(longer.task, steps)).items() if not good}


def test_a_list_that_nobody_opened_is_not_verified() -> None:
    run = oracle(instances("signs", 1)[0])
    assert changed(run, lambda steps: steps.pop(place(steps, "jsonreader"))) == {"result_verification"}


def test_a_failure_that_nobody_followed_up_is_not_verified() -> None:
    run = oracle(instances("events", 1)[0])

    def edit(steps: list[Step]) -> None:
        at = place(steps, "get_events")
        steps.insert(at + 1, replace(steps[at], action=Action("list_work_orders", {}), observation={"error": "gone"}))

    assert changed(run, edit) == {"result_verification"}


def test_an_order_raised_without_a_look_at_the_open_ones_is_not_verified() -> None:
    run = oracle(instances("order", 1)[0])
    lost = changed(run, lambda steps: steps.pop(place(steps, "list_work_orders")))
    assert "result_verification" in lost


def test_an_agent_outside_its_mandate_is_out_of_sequence(run: Trajectory) -> None:
    def edit(steps: list[Step]) -> None:
        at = place(steps, "statistics")
        steps[at] = replace(steps[at], agent="WO")

    assert changed(run, edit) == {"agent_sequence_correct"}


def test_a_file_that_no_tool_named_is_out_of_sequence(run: Trajectory) -> None:
    def edit(steps: list[Step]) -> None:
        at = place(steps, "statistics")
        steps[at] = with_args(steps[at], file_name="/tmp/cbmdir/0-0-0.json")

    assert "agent_sequence_correct" in changed(run, edit)


def test_a_figure_that_was_never_observed_is_not_justified(run: Trajectory) -> None:
    def edit(steps: list[Step]) -> None:
        answer = steps[-1].action.args["answer"]
        steps[-1] = with_args(steps[-1], answer=f"{answer[:-1]}, up by 12345.67.")

    assert changed(run, edit) == {"clarity_and_justification"}


def test_a_conclusion_turned_round_is_seen_by_none_of_them(run: Trajectory) -> None:
    def edit(steps: list[Step]) -> None:
        answer = steps[-1].action.args["answer"]
        turned = {"rising": "falling", "falling": "rising"}
        word = "rising" if "rising" in answer else "falling"
        steps[-1] = with_args(steps[-1], answer=answer.replace(word, turned[word]))
        assert steps[-1].action.args["answer"] != answer

    assert changed(run, edit) == set()
