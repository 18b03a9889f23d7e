"""A judge run that is killed at any moment and started again ends where an uninterrupted one ends."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint

KILLS = 3
CONCURRENCY = 4


def command(out: Path, *overrides: str) -> list[str]:
    return [sys.executable, "-m", "trajaudit.cli", "judge", f"paths.output_dir={out}", *overrides]


def stored(out: Path) -> dict[str, dict]:
    """The verdicts of a run by trajectory, without the timings that no two runs share."""
    lines = [line for path in out.rglob("verdicts.jsonl") for line in path.read_bytes().split(b"\n")]
    whole = [json.loads(line) for line in lines if line.endswith(b"}")]
    return {verdict["trajectory_id"]: {**verdict, "latency_s": None} for verdict in whole}


def run_to_the_end(out: Path, *overrides: str) -> str:
    done = subprocess.run(command(out, *overrides), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def kill_after(verdicts: int, out: Path, *overrides: str) -> None:
    """Start the run, let it store so many verdicts, and kill it without warning."""
    process = subprocess.Popen(command(out, *overrides), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while len(stored(out)) < verdicts and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_three_kills_lose_at_most_what_was_in_flight(tmp_path: Path) -> None:
    with FakeEndpoint(latency_s=0.05) as fake:
        overrides = (
            *("judge=step", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=60"),
            *(f"concurrency={CONCURRENCY}", "llm.structured=json_schema"),
        )
        points = sorted(random.Random(os.urandom(8)).sample(range(2, 55), KILLS))
        for point in points:
            kill_after(point, tmp_path / "killed", *overrides)
        run_to_the_end(tmp_path / "killed", *overrides)
        asked = dict(fake.counts)
        run_to_the_end(tmp_path / "straight", *overrides)
        assert all(fake.counts[key] == times + 1 for key, times in asked.items())
    killed, straight = stored(tmp_path / "killed"), stored(tmp_path / "straight")
    assert len(straight) == len(asked) == 60
    assert sum(verdict["status"] == "ok" for verdict in straight.values()) > 5, (
        "opinions were stored, not only failures"
    )
    assert killed == straight, f"killed after {points} verdicts"
    assert sum(times - 1 for times in asked.values()) <= KILLS * CONCURRENCY


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    with FakeEndpoint() as fake:
        overrides = ("judge=outcome", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=8")
        run_to_the_end(tmp_path, *overrides)
        before = fake.total
        assert "already done" in run_to_the_end(tmp_path, *overrides)
        assert fake.total == before == 8


def test_the_embedded_model_repeats_itself_across_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the embedded model is not installed")
    overrides = ("judge=outcome", "dataset.n=3", "concurrency=1", "reply.max_tokens=80", "reply.reasoning_limit=40")
    for point in (1, 2):
        kill_after(point, tmp_path / "killed", *overrides)
    run_to_the_end(tmp_path / "killed", *overrides)
    run_to_the_end(tmp_path / "straight", *overrides)
    assert stored(tmp_path / "killed") == stored(tmp_path / "straight")
    assert len(stored(tmp_path / "straight")) == 3
