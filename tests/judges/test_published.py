"""Published verdicts are served as they were published, and anything odd in their file is refused by line."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_chat import refund_run

from trajaudit._fields import RecordError, lines
from trajaudit.judges.published import read_published
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import Action, Source, Step, Trajectory
from trajaudit.verdict import Usage

DATA = Path(os.environ.get("TRAJAUDIT_DATA", Path(__file__).parents[2] / ".." / "shared" / "data")) / "trajectory_judge"
ROW = {
    "trajectory_id": "INS-1-wrong_tool",
    "judge_id": "step:m",
    "faulty": True,
    "failure_step": 1,
    "failure_type": "wrong_tool",
    "confidence": 0.92,
    "rationale": "because",
    "latency_s": 10.4,
    "prompt_tokens": 900,
    "completion_tokens": 100,
    "error": None,
}
RUN = replace(refund_run(), source=Source("published", meta={"published_id": "INS-1-wrong_tool"}))


def judges(tmp_path: Path, *rows: dict):
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_published(path, SUPPORT_DESK)


def test_a_row_is_found_by_its_published_id_and_filed_under_ours(tmp_path):
    verdict = asyncio.run(judges(tmp_path, ROW)["step:m"].judge(RUN))
    assert (verdict.trajectory_id, verdict.auditor, verdict.content_hash) == ("t1", "step:m", RUN.content_hash)
    assert (verdict.faulty, verdict.step, verdict.types) == (True, 1, ("wrong_tool",))
    assert (verdict.score, verdict.confidence, verdict.latency_s, verdict.rationale) == (0.92, 0.92, 10.4, "because")


def test_what_the_file_does_not_say_stays_unknown(tmp_path):
    served = judges(
        tmp_path,
        ROW,
        ROW | {"judge_id": "selfcons3:m"},
        ROW | {"judge_id": "programmatic", "prompt_tokens": 0, "completion_tokens": 0},
    )
    usage = {name: asyncio.run(judge.judge(RUN)).usage for name, judge in served.items()}
    assert usage == {
        "step:m": Usage(1, 900, None, 100, None),
        "selfcons3:m": Usage(3, 900, None, 100, None),
        "programmatic": Usage(0, 0, 0, 0, 0.0),
    }


def test_a_trajectory_without_a_published_verdict_was_not_run(tmp_path):
    verdict = asyncio.run(judges(tmp_path, ROW)["step:m"].judge(refund_run()))
    assert (verdict.status, verdict.detail) == ("not_run", "no published verdict on 't1'")


def test_a_row_with_an_error_is_no_opinion(tmp_path):
    row = ROW | {"error": "unparseable", "faulty": False, "failure_step": None, "failure_type": None, "confidence": 0.5}
    verdict = asyncio.run(judges(tmp_path, row)["step:m"].judge(RUN))
    assert (verdict.status, verdict.faulty, verdict.detail) == ("parse_fail", None, "unparseable")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"faulty": "true"}, "verdicts.jsonl:2: ?faulty: expected true or false"),
        ({"failure_type": "wrong_tol"}, "verdicts.jsonl:2: failure_type: .*did you mean 'wrong_tool'"),
        ({"confidence": 0.4}, "verdicts.jsonl:2: confidence"),
        ({"failure_step": "1"}, "verdicts.jsonl:2: ?failure_step"),
        ({"extra": 1}, "verdicts.jsonl:2:+ unknown key 'extra'"),
        ({}, "verdicts.jsonl:2: duplicate verdict of 'step:m'"),
    ],
)
def test_an_odd_row_is_refused_by_its_line(tmp_path, change, why):
    with pytest.raises(RecordError, match=why):
        judges(tmp_path, ROW, ROW | change)


def test_a_step_that_the_trajectory_does_not_have_is_refused_by_its_line(tmp_path):
    with pytest.raises(RecordError, match=r"verdicts\.jsonl:1: failure_step: expected 0 to 1"):
        asyncio.run(judges(tmp_path, ROW | {"failure_step": 2})["step:m"].judge(RUN))


def test_changed_verdicts_are_another_auditor(tmp_path):
    before = judges(tmp_path, ROW)["step:m"].spec
    assert judges(tmp_path, ROW)["step:m"].spec == before
    assert judges(tmp_path, ROW | {"confidence": 0.93})["step:m"].spec != before


def published_runs() -> list[Trajectory]:
    runs = []
    for number, (_, obj) in enumerate(lines(DATA / "trajectories.jsonl")):
        steps = tuple(
            Step(
                step["index"], step["thought"], Action(step["call"]["tool"], step["call"]["args"]), step["observation"]
            )
            for step in obj["steps"]
        )
        source = Source("trajectory_judge", meta={"published_id": obj["trajectory_id"]})
        runs.append(Trajectory(f"r{number}", obj["instance_id"], obj["goal"], steps, obj["final_answer"], source))
    return runs


@pytest.mark.skipif(not DATA.exists(), reason="the published verdicts are not at hand (TRAJAUDIT_DATA)")
def test_all_two_thousand_published_verdicts_are_served():
    served, runs = read_published(DATA / "verdicts.jsonl", SUPPORT_DESK), published_runs()
    flags = Counter()
    for name, judge in served.items():
        verdicts = [asyncio.run(judge.judge(run)) for run in runs]
        assert [verdict.status for verdict in verdicts] == ["ok"] * 400
        flags[name] = sum(bool(verdict.faulty) for verdict in verdicts)
    assert flags == {
        "programmatic": 200,
        "outcome:qwen2.5:14b": 217,
        "step:qwen2.5:14b": 257,
        "step:llama3.1:8b": 397,
        "selfcons3:qwen2.5:14b": 254,
    }
