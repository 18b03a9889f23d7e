"""A scripted endpoint plays all the parts of the industrial plant through the command line."""

from __future__ import annotations

import json
from pathlib import Path

from fake_endpoint import Act, Body, FakeEndpoint, say

from trajaudit import cli
from trajaudit.testbeds.asset_ops.episodes import question
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.instances import FAMILIES
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.replay import replay
from trajaudit.trajectory import read_trajectories

N, SEED = len(FAMILIES), 7
QUESTIONS = [question(SEED, number, "a") for number in range(N)]
SCRIPTS = {it.goal: replay(oracle_script(it), Plant(it.world, it.key, it.troubles)) for it in QUESTIONS}
MEDDLER = next(it.goal for it in QUESTIONS if it.family == "trend")
"""The question in which the orchestrator lists the sites itself before it plans."""


def player(body: Body, nth: int) -> Act:
    task = next(task for task in SCRIPTS if f"Task: {task}\n" in body["messages"][1]["content"])
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if task == MEDDLER:
        if turn == 0:
            return said("Let me see.", "sites", {})
        turn -= 1
    step = SCRIPTS[task][turn]
    assert step.action is not None
    return said(step.thought, step.action.tool, step.action.args)


def said(thought: str | None, tool: str | None, args: dict | None) -> Act:
    counted = {"prompt_tokens": 30_000, "completion_tokens": 50, "total_tokens": 30_050}
    return say(json.dumps({"thought": thought, "tool": tool, "args": args}), usage=counted)


def test_the_oracle_through_a_model_breaks_no_rule_and_a_meddling_orchestrator_leaves_its_scope(tmp_path: Path) -> None:
    with FakeEndpoint(player) as fake:
        told = ("llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "agent.max_steps=30")
        bed = ("testbed=asset_ops", f"testbed.n={N}", f"testbed.seed={SEED}")
        assert cli.run("rollout", *bed, *told, f"paths.output_dir={tmp_path}") == 0
    (path,) = tmp_path.glob("rollout/asset_ops/*/trajectories.jsonl")
    runs = {run.task: run for run in read_trajectories(path)}
    assert len(runs) == N
    for task, run in runs.items():
        label = run.label
        assert label is not None
        assert label.origin == "rule"
        if task == MEDDLER:
            assert ("scope", 0) in {(fault.type, fault.step) for fault in label.faults}
            continue
        assert not label.faulty, (task, label.faults)
        assert [(step.agent, step.observation) for step in run.steps] == [
            (step.agent, step.observation) for step in SCRIPTS[task]
        ]
        assert run.final_answer == (SCRIPTS[task][-1].action.args or {})["answer"]  # type: ignore[union-attr]
