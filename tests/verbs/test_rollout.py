"""A scripted endpoint plays the support desk through the command line: by JSON, by native calls, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_endpoint import Act, Body, FakeEndpoint, say

from trajaudit import cli
from trajaudit.testbeds.support_desk.episodes import support_desk
from trajaudit.testbeds.support_desk.generator import PRESETS
from trajaudit.trajectory import read_trajectories

N = 6
EPISODES = list(support_desk(preset="paper", n=N).episodes())
SCRIPTS = {e.task: PRESETS["paper"].script(e.instance) for e in EPISODES}  # type: ignore[attr-defined]
HASTY, MUTE = EPISODES[0].task, EPISODES[2].task
"""The customer whose check is left out, and the one whom the model has no call for."""


def player(body: Body, nth: int) -> Act:
    """Make the oracle's next call, in the form that the request asks for."""
    task = next(task for task in SCRIPTS if task in body["messages"][1]["content"])
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    calls = [call for call in SCRIPTS[task] if task != HASTY or call.tool != "check_eligibility"]
    if task == MUTE:
        return say("I had rather not.") if "tools" not in body else say(None)
    call = calls[turn]
    if "tools" not in body:
        return say(json.dumps({"thought": call.thought, "tool": call.tool, "args": call.args}))
    function = {"name": call.tool, "arguments": json.dumps(call.args)}
    return say(call.thought, tool_calls=[{"id": f"c{turn}", "type": "function", "function": function}])


@contextmanager
def desk(latency_s: float = 0.0) -> Iterator[tuple[FakeEndpoint, list[str]]]:
    with FakeEndpoint(player, latency_s) as fake:
        yield (
            fake,
            [
                *("llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "llm.price={input:1,output:2}"),
                *("testbed.preset=paper", f"testbed.n={N}"),
            ],
        )


def trajectories(out: Path) -> Path:
    (path,) = out.glob("rollout/*/*/trajectories.jsonl")
    return path


@pytest.mark.parametrize("protocol", ["json", "native"])
def test_a_model_drives_the_desk_and_the_rules_label_what_it_did(
    tmp_path: Path, protocol: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with desk() as (fake, told):
        command = ("rollout", *told, f"agent.protocol={protocol}", f"paths.output_dir={tmp_path}")
        assert cli.run(*command) == 0
        assert ("response_format" in fake.bodies[0]) == (protocol == "json")
        asked = fake.total
        assert cli.run(*command) == 0
        assert fake.total == asked
    assert "already done" in capsys.readouterr().out
    runs = {run.task: run for run in read_trajectories(trajectories(tmp_path))}
    assert len(runs) == N - 1, "the mute one called nothing"
    assert {run.label.origin for run in runs.values() if run.label} == {"rule"}
    label = runs[HASTY].label
    assert label is not None
    assert {fault.type for fault in label.faults} == {"skipped_precondition"}
    assert all(run.label and not run.label.faulty for task, run in runs.items() if task != HASTY)
    (receipt,) = tmp_path.glob("rollout/*/*/receipt.json")
    counted = json.loads(receipt.read_text())
    assert counted["ended"] == {"finished": 5, "parse_fail": 1}
    assert (counted["faults"]["skipped_precondition"], counted["failed_parses"], counted["trajectories"]) == (1, 3, 5)
    assert counted["usage"]["calls"] == asked
    assert counted["usage"]["usd"] == pytest.approx(asked * (1000 * 1 + 10 * 2) / 1e6)


def test_what_was_rolled_out_can_be_judged_and_is_said_to_be_labelled_by_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"paths.output_dir={tmp_path}"
    with desk() as (_, told):
        cli.run("rollout", *told, out)
    own = ("dataset=jsonl", f"dataset.path={trajectories(tmp_path)}", "dataset.rules=support_desk", out)
    assert cli.run("judge", *own) == 0
    assert cli.run("score", *own, "stats.resamples=200") == 0
    assert "the rules themselves are right by definition" in capsys.readouterr().out
    assert cli.run("report", *own, "stats.resamples=200") == 0
    (page,) = tmp_path.glob("report/*/*/report.html")
    assert "the rules themselves are right by definition" in page.read_text(encoding="utf-8")


def test_labels_by_rules_and_by_construction_are_never_averaged(tmp_path: Path) -> None:
    out = f"paths.output_dir={tmp_path}"
    with desk() as (_, told):
        cli.run("rollout", *told, out)
    cli.run("generate", "dataset.n=16", out)
    (made,) = tmp_path.glob("generate/*/*/trajectories.jsonl")
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_bytes(made.read_bytes() + trajectories(tmp_path).read_bytes())
    both = ("dataset=jsonl", f"dataset.path={mixed}", out)
    cli.run("judge", *both, "judge=never")
    refused = r"of several origins \(16 by construction, 5 by rule\).*dataset.origin=construction"
    for verb in ("score", "report"):
        with pytest.raises(ValueError, match=refused):
            cli.run(verb, *both, "stats.resamples=200")
    cli.run("judge", *both, "judge=never", "dataset.origin=rule")
    assert cli.run("score", *both, "dataset.origin=rule", "stats.resamples=200") == 0
    with pytest.raises(ValueError, match=r"has none with a label by human"):
        cli.run("judge", *both, "judge=never", "dataset.origin=human")


def test_a_killed_rollout_goes_on_where_it_was_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    out = tmp_path / "killed"

    def ended() -> int:
        return sum(path.read_bytes().count(b"\n") for path in out.rglob("episodes.jsonl"))

    with desk(latency_s=0.05) as (fake, told):
        words = ["rollout", *told, "concurrency=2"]
        command = [sys.executable, "-m", "trajaudit.cli", *words, f"paths.output_dir={out}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while ended() < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert 2 <= ended() < N
        assert cli.run(*words, f"paths.output_dir={out}") == 0
        paid_twice = sum(times - 1 for times in fake.counts.values())
        assert cli.run(*words, f"paths.output_dir={tmp_path / 'straight'}") == 0
    assert paid_twice <= 2, "at most the two requests in flight"
    assert trajectories(out).read_bytes() == trajectories(tmp_path / "straight").read_bytes()


def test_more_episodes_go_on_where_fewer_ended(tmp_path: Path) -> None:
    with desk() as (fake, told):
        few = [word if not word.startswith("testbed.n=") else "testbed.n=2" for word in told]
        cli.run("rollout", *few, f"paths.output_dir={tmp_path}")
        asked = fake.total
        cli.run("rollout", *told, f"paths.output_dir={tmp_path}")
        assert fake.total > asked
        assert set(fake.counts.values()) == {1}
    assert len(list(read_trajectories(trajectories(tmp_path)))) == N - 1


def test_a_spent_budget_ends_a_rollout_with_a_status_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with desk() as (_, told):
        command = ("rollout", *told, f"paths.output_dir={tmp_path}", "concurrency=1")
        assert cli.run(*command, "budget.tokens=9000") == 1
        assert "budget.tokens:" in capsys.readouterr().out
        assert cli.run(*command) == 0
    assert len(list(read_trajectories(trajectories(tmp_path)))) == N - 1
