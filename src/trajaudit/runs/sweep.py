"""A sweep: its jobs, what became of each, and the promise that no two of them work in one folder.

A job is known by the hash of its composed configuration, so an edited default or YAML file makes it another job, and
two sweeps that share a job share its record. The record is an append-only file that the job itself writes and holds
while it runs: wherever it was launched, and however the launcher died, the record says how far it got. Nothing here
loads data or a model, so jobs that are done can be recognised before anything is launched.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trajaudit._fields import Json, dumps, file_hash, loads
from trajaudit._log import AppendLog
from trajaudit.runs.folder import finished_with, watched_folders
from trajaudit.runs.manifest import now, without_secrets

MANIFEST = "sweep.json"
State = Literal["done", "running", "failed", "missing"]


@dataclass(frozen=True)
class Outcome:
    """What became of a job; ``folders`` are those that it worked in, ``objective`` what a search maximises of it."""

    state: State
    note: str | None = None
    folders: tuple[str, ...] = ()
    objective: float | None = None
    attempts: int = 0


@dataclass(frozen=True)
class Job:
    """One job of a sweep: its overrides, and the hash of the configuration that they compose to."""

    overrides: tuple[str, ...]
    key: str


@dataclass
class Sweep:
    """The jobs of one sweep command; ``folder`` holds its manifest, the folder beside it the records of the jobs.

    Attributes:
        search: whether a search proposes the jobs one after the other, and maximises their objective.
    """

    folder: Path
    command: tuple[str, ...] = ()
    search: bool = False
    jobs: list[Job] = field(default_factory=list)

    @property
    def records(self) -> Path:
        return self.folder.parent / "jobs"

    @property
    def root(self) -> Path:
        """The output folder; records name run folders from there, so that it can be moved."""
        return self.folder.parents[2]

    def add(self, jobs: Sequence[Job]) -> None:
        """Put jobs into the manifest."""
        self.jobs += jobs
        self.folder.mkdir(parents=True, exist_ok=True)
        listed = [{"overrides": list(job.overrides), "key": job.key} for job in self.jobs]
        text = dumps({"command": list(self.command), "search": self.search, "jobs": listed})
        part = self.folder / f"{MANIFEST}.part"
        part.write_text(without_secrets(text) + "\n", encoding="utf-8")
        os.replace(part, self.folder / MANIFEST)

    @classmethod
    def read(cls, folder: Path) -> Sweep:
        """Read a sweep's manifest.

        Raises:
            RecordError: it is damaged.
        """
        path = folder / MANIFEST
        found = loads(path.read_text(encoding="utf-8"), str(path))
        jobs = [Job(tuple(job["overrides"]), job["key"]) for job in found["jobs"]]
        return cls(folder, tuple(found["command"]), found["search"], jobs)

    def outcome(self, job: Job) -> Outcome:
        """Return what became of a job; one that was killed is missing, and the note says so."""
        path = self.records / f"{job.key}.jsonl"
        events = _events(path)
        if not events:
            return Outcome("missing", "never started")
        last = events[-1]
        attempts = sum(event["status"] == "running" for event in events)
        folders = tuple(str(self.root / name) for name in last.get("folders", []))
        if last["status"] == "done":
            return Outcome("done", None, folders, last["objective"], attempts)
        if last["status"] == "failed":
            return Outcome("failed", last["error"], folders, None, attempts)
        where = f"process {last['pid']} on {last['host']}"
        if last["host"] == socket.gethostname() and not _alive(last["pid"]):
            return Outcome("missing", f"killed ({where}, started {last['at']})", (), None, attempts)
        return Outcome("running", f"{where} since {last['at']}", (), None, attempts)

    def is_done(self, job: Job, data_dir: str) -> bool:
        """Say whether a job need not run: done, by this code, over files that are as they were, and still there."""
        found = self.outcome(job)
        return (
            found.state == "done"
            and len(found.folders) > 0
            and all(_unchanged(Path(folder), data_dir) for folder in found.folders)
        )


def sweeps(root: str | Path) -> list[Sweep]:
    """Return the sweeps under an output folder, the one that was started or resumed last at the end."""
    found = sorted((Path(root) / "multirun").glob(f"*/*/{MANIFEST}"), key=lambda path: path.stat().st_mtime_ns)
    return [Sweep.read(path.parent) for path in found]


def run_job(
    sweep: Path,
    job: Job,
    work: Callable[[], int | None],
    objective: Callable[[Sequence[Path]], float | None] = lambda folders: None,
) -> float | None:
    """Do a job's work and keep its record.

    Args:
        sweep: the folder of the sweep, in which the job claims the folders that it works in.
        objective: given the folders that the job worked in.

    Raises:
        LogLocked: another process does the very same job.
        JobFailed: it did not end well, and the record says why.
    """
    with AppendLog(sweep.parent / "jobs" / f"{job.key}.jsonl") as log:
        start = {"status": "running", "at": now(), "pid": os.getpid(), "host": socket.gethostname()}
        log.append({**start, "overrides": json.loads(without_secrets(dumps(list(job.overrides))))})
        folders: list[Path] = []

        def enter(folder: Path) -> None:
            claim(sweep, folder, job)
            folders.append(folder)

        def ended(status: str, **more: Json) -> Json:
            below = [os.path.relpath(folder, sweep.parents[2]) for folder in folders]
            return {"status": status, "at": now(), "folders": below, **more}

        try:
            with watched_folders(enter):
                status = work()
            reached = objective(folders)
        except Exception as error:
            why = without_secrets(" ".join(f"{type(error).__name__}: {error}".split()))
            log.append(ended("failed", error=why))
            raise JobFailed(str(error)) from error
        if status:
            log.append(ended("failed", error=f"exit status {status}; its folder's manifest says more"))
            raise JobFailed(f"exit status {status}; see above")
        log.append(ended("done", objective=reached))
        return reached


class JobFailed(RuntimeError):
    """A job of a sweep that ran and did not end well; the other jobs run all the same."""


def claim(sweep: Path, folder: Path, job: Job) -> None:
    """Take a run folder for one job of a sweep.

    Raises:
        ValueError: another job of the sweep has taken it.
    """
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    path = sweep / "folders" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{name}.{job.key}")
    mine.write_text(dumps({"key": job.key, "overrides": list(job.overrides), "folder": str(folder)}))
    try:
        os.link(mine, path)  # there whole, or not at all, and only one of two jobs gets it
    except FileExistsError:
        taken = loads(path.read_text(), str(path))
        if taken["key"] != job.key and set(taken["overrides"]) != set(job.overrides):
            raise ValueError(
                f"{folder} is the folder of job `{' '.join(taken['overrides'])}` of this sweep too, so one would take "
                "the other's results away: what they differ in names no folder; give each its own name=, or sweep "
                "over something else"
            ) from None
    finally:
        mine.unlink(missing_ok=True)


def _events(path: Path) -> list[Json]:
    """Return the whole lines of a record; it takes no lock, since the job may be running."""
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [loads(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]


def _alive(pid: int) -> bool:
    """Say whether a process of this machine runs; a dead one that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return not stat.is_file() or stat.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")


def _unchanged(folder: Path, data_dir: str) -> bool:
    """Say whether a run folder is finished, and the files that it read hold what they held."""
    data: Mapping[str, str] | None = finished_with(folder)
    if data is None:
        return False
    for name, digest in data.items():
        for path in (Path(name), Path(data_dir) / name):
            if path.is_file() and file_hash(path) != digest:
                return False
    return True
