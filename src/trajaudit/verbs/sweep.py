"""``trajaudit sweep status`` and ``sweep collect``: how far a sweep is, and what came out of it.

Both read what the jobs themselves left (their records and run folders), so they can be asked while jobs run, and after
a launcher that died. A training's numbers are those of its ``metrics.json``; a judge leaves verdicts and no numbers,
so they are set against the labels of its dataset here, by the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import yaml

from trajaudit._fields import Json, loads
from trajaudit.auditor import spec_hash
from trajaudit.config import Choice, ConfigError
from trajaudit.reports import Table, render, write
from trajaudit.reports.sweep_tables import SweptJob, chosen, chosen_table, jobs_table, seeds_table
from trajaudit.runs.store import final_verdicts
from trajaudit.runs.sweep import Job, Outcome, Sweep, sweeps
from trajaudit.trajectory import write_jsonl
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.fold_metrics import scores
from trajaudit.verbs.paths import Paths
from trajaudit.verdict import Usage, Verdict

OF_TRAINING = ("inner_auc", "auc", "auc_within_folds", "recall", "false_alarm", "runs", "answered", "unseen_runs")
"""What a table says of a training, of all that its metrics hold."""


def status(*, paths: Paths, sweep: str | None = None) -> int:
    """Say of every sweep, or of one, which jobs are done, running, failed (and why) or missing."""
    for one in _named(paths["output_dir"], sweep, all_of_them=True):
        print(_counted(one))
        print(render(_states(one), "txt"))
    return 0


def collect(*, paths: Paths, sweep: str | None = None) -> int:
    """Write one table of a sweep (the latest, where none is named): a row a job, and seeds aggregated."""
    (one,) = _named(paths["output_dir"], sweep)
    outcomes = [one.outcome(job) for job in one.jobs]
    jobs = [_swept(job, outcome, _metrics(outcome)) for job, outcome in zip(one.jobs, outcomes, strict=True)]
    tables = [jobs_table(one.folder.name, jobs), seeds_table(one.folder.name, jobs)]
    if one.search:
        tables = [tables[0], chosen_table(one.folder.name, jobs)]
        best = chosen(jobs)
        kept = [outcome for job, outcome in zip(jobs, outcomes, strict=True) if any(job is own for own in best)]
        print(f"verdicts of what was chosen: {_chosen_verdicts(one.folder, kept)}")
    print(_counted(one))
    for table in tables:
        write(table, one.folder / "tables")
        print(render(table, "txt"))
    print(f"all tables: {one.folder / 'tables'}")
    return 0


def conclude(sweep: Sweep) -> int:
    """Say how a sweep ended, with a table of the jobs that are not done; return the exit status."""
    print(_counted(sweep))
    left = [job for job in sweep.jobs if sweep.outcome(job).state != "done"]
    if left:
        print(render(_states(replace(sweep, jobs=left)), "txt"))
        print("the same command does what is left, and nothing else")
    return int(bool(left))


def _named(output_dir: str, name: str | None, all_of_them: bool = False) -> list[Sweep]:
    """Return the sweeps whose folder's name begins with ``name``; the latest, or all, where it is null.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: the name fits none, or several.
    """
    found = sweeps(output_dir)
    if not found:
        raise FileNotFoundError(f"no sweep under {Path(output_dir) / 'multirun'}: `trajaudit VERB -m …` makes one")
    if name is None:
        return found if all_of_them else found[-1:]
    fitting = [one for one in found if one.folder.name.startswith(name)]
    if len(fitting) != 1:
        known = ", ".join(one.folder.name for one in found)
        raise ConfigError(f"sweep: expected the beginning of one sweep's name, got {name!r}; known: {known}")
    return fitting


def _counted(sweep: Sweep) -> str:
    states = Counter(sweep.outcome(job).state for job in sweep.jobs)
    counts = ", ".join(
        f"{states[state]} {state}" for state in ("done", "running", "failed", "missing") if states[state]
    )
    return f"sweep {sweep.folder.name} of {sweep.folder.parent.name}: {len(sweep.jobs)} jobs: {counts or 'none yet'}"


def _states(sweep: Sweep) -> Table:
    return jobs_table(sweep.folder.name, [_swept(job, sweep.outcome(job), {}) for job in sweep.jobs])


def _swept(job: Job, outcome: Outcome, metrics: dict[str, Json]) -> SweptJob:
    settings = dict(one.lstrip("+").partition("=")[::2] for one in job.overrides)
    return SweptJob(settings, outcome.state, outcome.note, metrics)


def _metrics(outcome: Outcome) -> dict[str, Json]:
    """Return the numbers of a job that is done."""
    if outcome.state != "done" or not outcome.folders:
        return {}
    folder = Path(outcome.folders[-1])
    if (folder / "verdicts.jsonl").is_file():
        return _of_judge(folder)
    if (folder / "metrics.json").is_file():
        found = loads((folder / "metrics.json").read_text(), str(folder / "metrics.json"))
        pooled = {**found.get("pooled", {}), "inner_auc": found.get("inner_auc")}
        return {key: pooled[key] for key in OF_TRAINING if key in pooled} if "pooled" in found else {}
    return {}


def _of_judge(folder: Path) -> dict[str, Json]:
    """Return the numbers of a judge's verdicts on the labelled runs of its dataset, by auditor where it has several."""
    config = yaml.safe_load((folder / "config.yaml").read_text())
    runs = {run.id: run for run in dataset_of(Choice("dataset", config["dataset"])) if run.label is not None}
    by_name = sorted(final_verdicts(folder / "verdicts.jsonl"), key=lambda verdict: verdict.auditor)
    found: dict[str, dict[str, Json]] = {}
    for auditor, own in groupby(by_name, key=lambda verdict: verdict.auditor):
        said = list(own)
        pairs = [(runs[verdict.trajectory_id], verdict) for verdict in said if verdict.trajectory_id in runs]
        usage = sum((verdict.usage for verdict in said), Usage())
        numbers = scores(pairs)
        kept = {key: numbers[key] for key in ("auc", "recall", "false_alarm", "runs", "answered")}
        found[auditor] = {**kept, "calls": usage.calls, "usd": usage.usd}
    if len(found) == 1:
        return next(iter(found.values()))
    return {f"{auditor}.{key}": value for auditor, numbers in found.items() for key, value in numbers.items()}


def _chosen_verdicts(folder: Path, outcomes: Sequence[Outcome]) -> Path:
    """Write the verdicts of the jobs that a search chose, one a fold, as those of one auditor."""
    each = [final_verdicts(Path(outcome.folders[-1]) / "predictions.jsonl") for outcome in outcomes]
    spec = spec_hash({"chosen": sorted(verdicts[0].spec_hash for verdicts in each)})
    path = folder / "chosen.jsonl"
    write_jsonl(path, [_tuned(verdict, spec) for verdicts in each for verdict in verdicts])
    return path


def _tuned(verdict: Verdict, spec: str) -> Verdict:
    return replace(verdict, auditor=f"{verdict.auditor}:tuned", spec_hash=spec)
