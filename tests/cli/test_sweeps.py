"""A sweep does what is left and nothing else, whichever launcher runs it and however it ended the last time."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from zoo import zebra_runs

from trajaudit import cli
from trajaudit.runs.sweep import Sweep, sweeps
from trajaudit.trajectory import Fault, Label, write_jsonl

LAUNCHERS = {
    "basic": "hydra",
    "joblib": "hydra_plugins.hydra_joblib_launcher",
    "submitit_local": "hydra_plugins.hydra_submitit_launcher",
    "ray": "hydra_plugins.hydra_ray_launcher",
}
SMALL = ("dataset=jsonl", "dataset.path=runs.jsonl", "dataset.name=zoo", "split.n_folds=2", "calibration.folds=2")
GRID = ("train", "-m", *SMALL, "detector=length,has_error,gated", "split.seed=0,1,2")
GATED = """
import os, pathlib, time
from trajaudit.detectors.baselines import Majority

class Gated(Majority):
    def fit(self, runs, folder):
        pathlib.Path("threads").write_text(os.environ.get("OMP_NUM_THREADS", "not set"))
        while not os.path.exists("gate"):
            time.sleep(0.05)
        super().fit(runs, folder)
"""


def needs(module: str) -> None:
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        pytest.skip(f"{module} is not installed; the extras `sweeps` and `ray` hold it")


def laid_out(folder: Path) -> Path:
    """Put 24 runs there, and a detector that waits in its fit until there is a file `gate`."""
    write_jsonl(folder / "runs.jsonl", zebra_runs(12))
    (folder / "gated.py").write_text(GATED)
    (folder / "own" / "detector").mkdir(parents=True)
    (folder / "own" / "detector" / "gated.yaml").write_text("_target_: gated.Gated\n")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """The table of the sweep when nobody kills it."""
    folder = laid_out(tmp_path_factory.mktemp("straight"))
    (folder / "gate").touch()
    status, said = done(folder, *GRID)
    assert status == 0, said
    return table(folder)


def start(place: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "trajaudit.cli", *args, "--config-dir", "own", "paths.output_dir=out"]
    env = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    env |= {"WANDB_MODE": "disabled", "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=place, env=env, start_new_session=True, **pipes)


def done(place: Path, *args: str) -> tuple[int, str]:
    process = start(place, *args)
    said, _ = process.communicate(timeout=240)
    return process.returncode, said


def states(sweep: Sweep) -> list[str]:
    return [sweep.outcome(job).state for job in sweep.jobs]


def table(place: Path, name: str = "jobs") -> list[dict[str, str]]:
    assert cli.run("sweep collect", f"paths.output_dir={place / 'out'}") == 0
    (path,) = (place / "out" / "multirun").glob(f"*/*/tables/{name}.csv")
    return list(csv.DictReader(path.open()))


def killed_once(place: Path, *args: str, after: int) -> Sweep:
    """Start a sweep, and kill all of its processes once so many jobs are done and another one is at work."""
    process = start(place, *args)
    deadline = time.monotonic() + 200
    while True:
        found = sweeps(place / "out")
        now = states(found[0]) if found else []
        if now.count("done") == after and "running" in now:
            break
        if process.poll() is not None or time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"{now}\n{process.communicate()[0]}")
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    at_work = [found[0].outcome(job).note or "" for job in found[0].jobs if found[0].outcome(job).state == "running"]
    for note in at_work:
        with suppress(ProcessLookupError):
            os.kill(int(note.split()[1]), signal.SIGKILL)
    process.communicate()
    return found[0]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_sweep_killed_half_way_is_completed_by_the_same_command(launcher: str, place: Path, uninterrupted) -> None:
    needs(LAUNCHERS[launcher])
    # Ray starts jobs in no order: one core more than there are jobs that wait lets all the others end.
    cores = ("+hydra.launcher.ray.init.num_cpus=4",) if launcher == "ray" else ()
    command = (*GRID, f"launcher={launcher}", *cores)
    sweep = killed_once(place, *command, after=6)
    deadline = time.monotonic() + 30
    while "running" in states(sweep) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert states(sweep) == ["done"] * 6 + ["missing"] * 3  # jobs in the order of the command
    at_work = sum(sweep.outcome(job).attempts for job in sweep.jobs[6:])
    assert at_work in ((1,) if launcher == "basic" else (1, 2, 3))  # as many as the machine has cores
    records = {job.key: (sweep.records / f"{job.key}.jsonl").read_bytes() for job in sweep.jobs[:6]}
    (place / "gate").touch()
    status, said = done(place, *command)
    assert status == 0, said
    assert "already done: 6 of 9 jobs" in said
    assert {job: (sweep.records / f"{job}.jsonl").read_bytes() for job in records} == records
    assert table(place) == uninterrupted
    if launcher != "basic":
        assert (place / "threads").read_text() == "1"


def test_one_table_has_a_row_a_job_with_its_settings_and_its_numbers(uninterrupted) -> None:
    assert [row["split.seed"] for row in uninterrupted] == ["0", "1", "2"] * 3
    assert {row["detector"] for row in uninterrupted} == {"length", "has_error", "gated"}
    assert {row["runs"] for row in uninterrupted} == {"24"}
    assert [float(row["inner_auc"]) for row in uninterrupted[6:]] == [0.5] * 3  # one score for all runs


def test_a_failed_job_stops_no_other_and_stands_in_the_table_at_the_end(place: Path) -> None:
    (place / "gated.py").write_text("def Gated():\n    raise ValueError('a broken detector')\n")
    command = ("train", "-m", *SMALL, "detector=gated,length,majority")
    status, said = done(place, *command)
    assert status == 1
    assert "3 jobs: 2 done, 1 failed" in said
    assert "ValueError: a broken detector" in said[said.index("3 jobs") :]
    assert "Traceback" not in said
    (place / "gated.py").write_text(GATED)
    (place / "gate").touch()
    status, said = done(place, *command)
    assert (status, "already done: 2 of 3 jobs" in said, "3 jobs: 3 done" in said) == (0, True, True), said


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("judge", "-m", "launcher=joblib"), "launcher=joblib: it needs packages that are not installed: pip install "),
        (("judge", "-m", "launcher=ray"), "'trajaudit[ray]'"),
        (("train", "-m", "sweeper=optuna"), "sweeper=optuna: it needs packages that are not installed"),
        (("judge", "-m", "launcher=slurm"), "launcher: no such launcher 'slurm'"),
    ],
)
def test_a_plugin_that_is_not_installed_is_one_line_that_says_what_to_install(args, message) -> None:
    code = "import sys; sys.modules['hydra_plugins'] = None; from trajaudit.cli import main; main(sys.argv[1:])"
    ended = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert message in ended.stderr.splitlines()[-1]


def test_a_search_is_refused_where_the_folds_would_see_each_others_test_runs(place: Path) -> None:
    needs("hydra_plugins.hydra_optuna_sweeper")
    status, said = done(
        place, "train", "-m", "sweeper=optuna", *SMALL, "detector=tfidf", "detector.strength=interval(1,2)"
    )
    assert (status, said.count("\n")) == (2, 1)
    assert "fold: a search needs it" in said


def flipped(runs):
    return [replace(run, label=Label(not run.label.faulty, ()) if run.label.faulty else FAULTY) for run in runs]


FAULTY = Label(True, (Fault("wrong_tool", 0, "thought"),))


def test_other_labels_on_the_runs_that_are_tested_do_not_change_what_a_search_chooses(place: Path) -> None:
    needs("hydra_plugins.hydra_optuna_sweeper")
    test = [replace(run, id=f"t{run.id}", group=f"t{run.group}") for run in zebra_runs(30)[24:]]
    search = ("detector.strength=tag(log,interval(0.001,100))", "hydra.sweeper.n_trials=3", "detector.features=2000")
    found = []
    for labels in (list, flipped):
        write_jsonl(place / "test.jsonl", labels(test))
        status, said = done(
            place,
            *("train", "-m", "sweeper=optuna", "fold=0", "detector=tfidf", "split=transfer", *search),
            *("dataset@test=jsonl", "test.path=test.jsonl", "test.name=other"),
            *(part for part in SMALL if not part.startswith("split")),
        )
        assert status == 0, said
        found.append((table(place, "chosen"), table(place)))
    (before, jobs), (after, again) = found
    kept = ("fold", "detector.strength", "inner_auc")
    assert [before[0][key] for key in kept] == [after[0][key] for key in kept]
    assert [row["inner_auc"] for row in jobs] == [row["inner_auc"] for row in again]
    assert float(before[0]["auc"]) == pytest.approx(1 - float(after[0]["auc"]))
