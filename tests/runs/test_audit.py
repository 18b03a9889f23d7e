"""A run asks only what has no answer, stores each answer at once, and is stopped by nothing but its budget."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from slow_judge import SlowJudge, runs

from trajaudit._fields import RecordError
from trajaudit.judges.trivial import ConstantJudge
from trajaudit.llm.chat import BudgetExceeded
from trajaudit.runs.audit import Summary, audit, run_audit
from trajaudit.runs.store import VerdictStore, final_verdicts


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "verdicts.jsonl"


def judged(judge, path, items, **settings) -> Summary:
    with VerdictStore(path) as store:
        return run_audit(judge, items, store, **settings)


def test_every_item_gets_a_verdict_and_a_second_run_asks_nothing(path):
    first, second = SlowJudge(), SlowJudge()
    summary = judged(first, path, runs(20), concurrency=4)
    assert (summary.items, summary.statuses, summary.complete) == (20, {"ok": 20}, True)
    again = judged(second, path, runs(20))
    assert (again.items, again.statuses, again.resumed, second.questions) == (20, {"ok": 20}, 20, [])
    assert len(final_verdicts(path)) == 20


def test_one_bad_record_does_not_fail_the_job(path):
    judge = SlowJudge(script={"t1": RuntimeError("boom"), "t2": "parse_fail", "t3": "api_error"})
    summary = judged(judge, path, runs(6))
    assert summary.statuses == {"ok": 3, "not_run": 1, "parse_fail": 1, "api_error": 1}
    assert summary.stopped is None
    assert not summary.complete
    crashed = next(verdict for verdict in final_verdicts(path) if verdict.status == "not_run")
    assert (crashed.trajectory_id, crashed.detail) == ("t1", "RuntimeError: boom")


def test_a_failure_of_the_endpoint_is_tried_again_and_an_unparseable_answer_is_not(path):
    judged(SlowJudge(script={"t1": RuntimeError("boom"), "t2": "parse_fail", "t3": "api_error"}), path, runs(6))
    second = SlowJudge()
    summary = judged(second, path, runs(6))
    assert sorted(second.questions) == ["t1", "t3"]
    assert (summary.statuses, summary.resumed, summary.complete) == ({"ok": 5, "parse_fail": 1}, 4, True)
    assert len(final_verdicts(path)) == 6


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_no_more_than_concurrency_items_are_in_flight(path, concurrency):
    judge = SlowJudge(0.002)
    judged(judge, path, runs(20), concurrency=concurrency)
    assert judge.most_in_flight == min(concurrency, 20)


def test_a_stream_is_read_only_as_far_as_the_workers_are(path):
    taken = []

    def stream():
        for run in runs(50):
            taken.append(run.id)
            yield run

    async def first_answers() -> None:
        with VerdictStore(path) as store:
            job = asyncio.create_task(audit(SlowJudge(30), stream(), store, concurrency=4))
            await asyncio.sleep(0.05)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job

    asyncio.run(first_answers())
    assert len(taken) == 4


def test_a_spent_budget_sends_nothing_more_and_counts_the_rest(path):
    judge = SlowJudge(0.01, script={"t5": BudgetExceeded("budget.usd=1 is spent")})
    summary = judged(judge, path, runs(40), concurrency=3)
    assert summary.stopped == "budget.usd=1 is spent"
    assert set(judge.questions) <= {f"t{i}" for i in range(8)}
    stored = final_verdicts(path)
    assert {verdict.status for verdict in stored} == {"ok"}, "what nobody asked about has no verdict"
    assert len(stored) == len(judge.questions) - 1, "what was in flight is stored"
    assert summary.statuses == {"ok": len(stored), "not_run": 40 - len(stored)}
    assert not summary.complete
    assert judged(SlowJudge(), path, runs(40)).complete


def test_the_rest_of_a_stopped_run_counts_what_an_earlier_run_answered(path):
    judged(SlowJudge(), path, runs(40)[30:])
    summary = judged(SlowJudge(script={"t0": BudgetExceeded("")}), path, runs(40), concurrency=1)
    assert (summary.statuses, summary.resumed) == ({"not_run": 30, "ok": 10}, 10)
    assert summary.stopped == "the budget is spent"


def test_a_full_disk_stops_the_run_and_nothing_more_is_asked(path, monkeypatch):
    judge = SlowJudge()
    with VerdictStore(path) as store:
        append, room = store.append, 5

        def short_of_room(verdict) -> None:
            nonlocal room
            room -= 1
            if room < 0:
                raise OSError(errno.ENOSPC, "no space")
            append(verdict)

        monkeypatch.setattr(store, "append", short_of_room)
        with pytest.raises(OSError, match="no space"):
            run_audit(judge, runs(100), store, concurrency=4)
    assert len(judge.questions) <= 5 + 4
    assert len(final_verdicts(path)) == 5
    assert judged(SlowJudge(), path, runs(100)).resumed == 5


def test_a_broken_stream_is_an_error_after_what_was_in_flight_is_stored(path):
    def stream():
        yield from runs(3)
        raise RecordError("traces.jsonl:4: steps: missing")

    with pytest.raises(RecordError, match=r"traces\.jsonl:4"):
        judged(SlowJudge(0.01), path, stream(), concurrency=8)
    assert len(final_verdicts(path)) == 3


def test_an_id_that_comes_twice_is_refused(path):
    with pytest.raises(RecordError, match="'t0' occurs twice"):
        judged(SlowJudge(), path, [*runs(3), runs(1)[0]])


def test_a_judge_that_files_under_another_spec_is_refused(path):
    judge = SlowJudge()
    judge.spec_hash = "other"
    with pytest.raises(RecordError, match="slow: filed a verdict under"):
        judged(judge, path, runs(1))


def test_a_concurrency_of_nothing_is_refused(path):
    with pytest.raises(ValueError, match="concurrency: expected at least 1, got 0"):
        judged(SlowJudge(), path, runs(1), concurrency=0)


def test_a_large_set_is_quick_for_a_judge_that_never_waits(path):
    """A thousand a second at the very least: neither a thread nor a task is made for an item."""
    items = runs(3000)
    start = time.perf_counter()
    assert judged(ConstantJudge(True), path, items).statuses == {"ok": 3000}
    assert time.perf_counter() - start < 3


def test_no_bar_is_drawn_where_nobody_watches(path, capfd):
    judged(SlowJudge(), path, runs(5))
    assert capfd.readouterr() == ("", "")


def started(path: Path, asked: Path, n: int, seconds: float, concurrency: int) -> subprocess.Popen:
    arguments = [str(argument) for argument in (path, asked, n, seconds, concurrency)]
    job = subprocess.Popen(
        [sys.executable, str(Path(__file__).parents[1] / "slow_judge.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert job.stdout is not None
    assert job.stdout.readline().strip() == str(job.pid), job.communicate()
    return job


def test_killed_three_times_and_rerun_gives_the_verdicts_of_an_uninterrupted_run(path, tmp_path):
    n, concurrency, toss = 60, 6, random.Random(7)
    asked, kills = tmp_path / "asked", 3
    for _ in range(kills):
        job = started(path, asked, n, 0.05, concurrency)
        time.sleep(toss.uniform(0.02, 0.15))
        job.kill()
        assert job.wait() == -signal.SIGKILL
        job.communicate()
    stored_at_last_kill = len(final_verdicts(path))
    job = started(path, asked, n, 0.0, concurrency)
    out, err = job.communicate(timeout=30)
    assert (job.returncode, err) == (0, "")
    assert out.strip() == f"slow: {n} items: {n} ok; {stored_at_last_kill} from an earlier run"
    straight = tmp_path / "straight.jsonl"
    judged(SlowJudge(), straight, runs(n))
    assert sorted(map(str, final_verdicts(path))) == sorted(map(str, final_verdicts(straight)))
    questions = Counter(asked.read_text().split())
    assert set(questions) == {f"t{i}" for i in range(n)}
    assert sum(questions.values()) - n <= kills * concurrency, "only what was in flight at a kill is asked twice"


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_an_interrupted_run_leaves_a_whole_store_and_frees_it(path, tmp_path, sent, status):
    job = started(path, tmp_path / "asked", 200, 0.02, 4)
    time.sleep(0.2)
    job.send_signal(sent)
    job.communicate(timeout=30)
    assert job.returncode == status
    raw = path.read_bytes()
    assert raw.endswith(b"\n")
    assert 0 < len(final_verdicts(path)) < 200
    assert judged(SlowJudge(), path, runs(200)).statuses == {"ok": 200}


def test_a_second_process_on_one_store_is_refused(path, tmp_path):
    job = started(path, tmp_path / "asked", 10, 5, 2)
    try:
        with pytest.raises(OSError, match=f"in use by process {job.pid}"):
            VerdictStore(path)
    finally:
        job.kill()
        job.communicate()
