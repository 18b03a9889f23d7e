"""A sweep's records say what became of each job, and no two jobs work in one folder."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from trajaudit._fields import file_hash
from trajaudit._log import LogLocked
from trajaudit.runs.folder import RunFolder
from trajaudit.runs.sweep import Job, JobFailed, Sweep, run_job, sweeps

ONE, TWO = Job(("detector=a", "seed=0"), "one"), Job(("detector=a", "seed=1"), "two")


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    made = Sweep(tmp_path / "multirun" / "train" / "s", ("trajaudit", "train", "-m"))
    made.add([ONE, TWO])
    return made


def working(root: Path, seed: int, **settings):
    """What a verb does: open its folder, and leave something there."""

    def work() -> int:
        with RunFolder.open(root, "train", "x", {"seed": seed}, outputs=("metrics.json",), **settings) as folder:
            (folder.path / "metrics.json").write_text("{}")
        return 0

    return work


def test_a_job_is_missing_then_done_and_says_where_it_worked(sweep, tmp_path) -> None:
    assert sweep.outcome(ONE).state == "missing"
    run_job(sweep.folder, ONE, working(tmp_path, 0), lambda folders: float(len(folders)))
    found = sweep.outcome(ONE)
    assert (found.state, found.attempts, found.objective) == ("done", 1, 1.0)
    assert Path(found.folders[0]).parent == tmp_path / "train" / "x"
    assert sweep.is_done(ONE, "data")
    assert not sweep.is_done(TWO, "data")
    assert [one.jobs for one in sweeps(tmp_path)] == [[ONE, TWO]]


def test_a_failure_is_recorded_with_its_error_and_mended_by_the_next_attempt(sweep, tmp_path) -> None:
    with pytest.raises(JobFailed, match="no such file"):
        run_job(sweep.folder, ONE, lambda: (_ for _ in ()).throw(OSError("no such file")))
    assert (sweep.outcome(ONE).state, sweep.outcome(ONE).note) == ("failed", "OSError: no such file")
    with pytest.raises(JobFailed, match="exit status 3"):
        run_job(sweep.folder, ONE, lambda: 3)
    run_job(sweep.folder, ONE, working(tmp_path, 0))
    assert (sweep.outcome(ONE).state, sweep.outcome(ONE).attempts) == ("done", 3)


def test_the_same_job_twice_at_once_is_refused_and_its_record_stays(sweep, tmp_path) -> None:
    def work() -> int:
        assert sweep.outcome(ONE).state == "running"
        with pytest.raises(LogLocked, match=f"in use by process {os.getpid()}"):
            run_job(sweep.folder, ONE, working(tmp_path, 0))
        return working(tmp_path, 0)()

    run_job(sweep.folder, ONE, work)
    assert (sweep.outcome(ONE).state, sweep.outcome(ONE).attempts) == ("done", 1)


def _for_ever(folder: Path) -> None:
    run_job(folder, ONE, lambda: time.sleep(600))


def test_a_job_that_was_killed_is_missing_and_can_start_again(sweep, tmp_path) -> None:
    killed = multiprocessing.get_context("fork").Process(target=_for_ever, args=(sweep.folder,))
    killed.start()
    while sweep.outcome(ONE).state != "running":
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    assert sweep.outcome(ONE).state == "missing"
    assert sweep.outcome(ONE).note.startswith(f"killed (process {killed.pid}")
    run_job(sweep.folder, ONE, working(tmp_path, 0))
    assert (sweep.outcome(ONE).state, sweep.outcome(ONE).attempts) == ("done", 2)


def test_two_jobs_that_would_work_in_one_folder_are_told_so_before_anything_is_lost(sweep, tmp_path) -> None:
    run_job(sweep.folder, ONE, working(tmp_path, 0, data={"a": "1"}))
    (folder,) = sweep.outcome(ONE).folders
    before = (Path(folder) / "attempts.jsonl").read_bytes()
    with pytest.raises(JobFailed, match=r"is the folder of job `detector=a seed=0` of this sweep too"):
        run_job(sweep.folder, TWO, working(tmp_path, 0, data={"a": "2"}))
    assert (Path(folder) / "attempts.jsonl").read_bytes() == before
    run_job(sweep.folder, ONE, working(tmp_path, 0, data={"a": "1"}))


def test_a_done_job_runs_again_when_a_file_it_read_has_changed_or_its_results_are_gone(sweep, tmp_path) -> None:
    data = tmp_path / "runs.jsonl"
    data.write_text("a\n")
    run_job(sweep.folder, ONE, working(tmp_path, 0, data={"runs.jsonl": file_hash(data)}))
    assert sweep.is_done(ONE, str(tmp_path))
    data.write_text("b\n")
    assert not sweep.is_done(ONE, str(tmp_path))
    data.write_text("a\n")
    (Path(sweep.outcome(ONE).folders[0]) / "metrics.json").unlink()
    assert not sweep.is_done(ONE, str(tmp_path))
