"""Hydra's side of a sweep: a launcher that passes on only the jobs that are not done, whichever launcher that is.

It stands between Hydra's sweeper (a grid, or Optuna) and Hydra's launcher (one process, joblib, submitit, Ray), and so
needs neither to know of the other: a job that is done is answered from its record, and a search that is started again
proposes the same trials and goes on from the first that has no answer.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from trajaudit._fields import Json, canonical, loads
from trajaudit.config import ConfigError
from trajaudit.runs.folder import config_hash
from trajaudit.runs.sweep import Job, Sweep, run_job

_NO_JOB = ("launcher", "hydra", "paths", "sweeper", "search")
"""What an override's key begins with that says where or how jobs run, and not what they are."""
_ALL_AT_ONCE = "LocalLauncher"
"""submitit's local executor has no queue: it starts whatever it is given."""


def sweep_folder(output_dir: str, verb: str, overrides: Sequence[str]) -> Path:
    """Return the folder of a sweep: the same whichever launcher runs it, and however many trials a search is given."""
    about = [one for one in overrides if one.startswith(("sweeper=", "search=", "hydra.sweeper.params"))]
    digest = hashlib.sha256(canonical([verb, sorted([*overrides_of_job(overrides), *about])])).hexdigest()[:12]
    return Path(output_dir) / "multirun" / verb / digest


def overrides_of_job(overrides: Sequence[str]) -> tuple[str, ...]:
    """Return the overrides that say what a job is."""
    return tuple(one for one in overrides if one.lstrip("+~").partition("=")[0].split(".")[0] not in _NO_JOB)


def job_of(cfg: DictConfig, overrides: Sequence[str]) -> Job:
    """Return the job that a composed config is, from the config alone."""
    plain: dict[str, Json] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    return Job(overrides_of_job(overrides), config_hash({k: v for k, v in plain.items() if k != "hydra"}))


def run_swept(cfg: DictConfig, work: Callable[[], int | None]) -> float | None:
    """Do one job of a sweep, in whatever process it was launched; return what a search maximises of it.

    Raises:
        LogLocked, JobFailed
    """
    hydra = HydraConfig.get()
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # a worker starts without it, and a config can name a module of the user's own
    job = job_of(cfg, list(hydra.overrides.task))
    return run_job(Path(hydra.sweep.dir), job, work, _objective if _searches(hydra) else lambda folders: None)


@contextmanager
def resuming(sweep: Sweep) -> Iterator[None]:
    """Let the next sweep of this process launch only what is not done."""
    plugins = Plugins.instance()
    instantiate = plugins.instantiate_launcher

    def wrapped(hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> Launcher:
        inner = instantiate(hydra_context=hydra_context, task_function=task_function, config=config)
        return Resuming(inner, sweep, hydra_context, config)

    plugins.instantiate_launcher = wrapped  # type: ignore[method-assign]
    try:
        yield
    finally:
        del plugins.instantiate_launcher


class Resuming(Launcher):
    """A launcher around another one; it launches only the jobs of ``sweep`` that are not done."""

    def __init__(self, inner: Launcher, sweep: Sweep, context: HydraContext, config: DictConfig) -> None:
        self.inner, self.sweep, self.context, self.config = inner, sweep, context, config

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Do nothing: the launcher inside was set up when it was made."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Launch what is not done, and answer for all.

        Raises:
            ConfigError: the overrides of a job do not compose.
        """
        configs = [self._composed(overrides) for overrides in job_overrides]
        jobs = [job_of(cfg, overrides) for cfg, overrides in zip(configs, job_overrides, strict=True)]
        self.sweep.add(jobs)
        waiting = [n for n, job in enumerate(jobs) if not self.sweep.is_done(job, str(configs[n].paths.data_dir))]
        if done := len(jobs) - len(waiting):
            print(f"already done: {done} of {len(jobs)} jobs", flush=True)
        returned = {n: self._answered(jobs[n], job_overrides[n]) for n in range(len(jobs)) if n not in waiting}
        for numbers in self._portions(waiting):
            found = self._launched([job_overrides[n] for n in numbers], initial_job_idx + numbers[0])
            returned |= dict(zip(numbers, found, strict=True))
        return [returned[n] for n in range(len(jobs))]

    def _launched(self, overrides: Sequence[Sequence[str]], first: int) -> list[JobReturn]:
        """Launch jobs; where the launcher itself breaks (a worker was killed), the records say how far each got."""
        with _without_our_launcher():
            try:
                found = list(self.inner.launch(overrides, initial_job_idx=first))
            except Exception as error:
                said = " ".join(str(error).split()) or type(error).__name__
                print(f"error: launcher {type(self.inner).__name__}: {said}", file=sys.stderr, flush=True)
                found = [_returned(one, JobStatus.FAILED, RuntimeError(said)) for one in overrides]
        # A grid's sweeper stops at a job that failed, which a failed trial of a search must be told of.
        return found if _searches(self.config.hydra) else [_returned(one) for one in overrides]

    def _portions(self, waiting: list[int]) -> list[list[int]]:
        cores = os.cpu_count() or 1
        size = cores if type(self.inner).__name__ == _ALL_AT_ONCE else len(waiting)
        return [waiting[at : at + size] for at in range(0, len(waiting), max(size, 1))]

    def _answered(self, job: Job, overrides: Sequence[str]) -> JobReturn:
        return _returned(overrides, JobStatus.COMPLETED, self.sweep.outcome(job).objective)

    def _composed(self, overrides: Sequence[str]) -> DictConfig:
        try:
            return self.context.config_loader.load_sweep_config(self.config, list(overrides))
        except HydraException as error:
            raise ConfigError(f"{' '.join(overrides_of_job(overrides))}: {' '.join(str(error).split())}") from error


@contextmanager
def _without_our_launcher() -> Iterator[None]:
    """Take our mark off Hydra's plugins while jobs are launched: they are sent to the workers as they are."""
    plugins = Plugins.instance()
    wrapped = plugins.__dict__.pop("instantiate_launcher", None)
    try:
        yield
    finally:
        if wrapped is not None:
            plugins.instantiate_launcher = wrapped  # type: ignore[method-assign]


def _returned(overrides: Sequence[str], status: JobStatus = JobStatus.COMPLETED, value: Any = None) -> JobReturn:
    found = JobReturn(overrides=list(overrides), status=status)
    found.return_value = value
    return found


def _searches(hydra: Any) -> bool:
    return "optuna" in str(hydra.sweeper["_target_"])


def _objective(folders: Sequence[Path]) -> float:
    """Return what the training in these folders says a search may maximise.

    Raises:
        ValueError: it says nothing, and why.
    """
    path = folders[-1] / "metrics.json"
    said = loads(path.read_text(encoding="utf-8"), str(path))
    value = said.get("objective")
    if value is None:
        raise ValueError(f"a search has nothing to maximise: {said.get('objective_reason', f'{path} names nothing')}")
    return float(value)
