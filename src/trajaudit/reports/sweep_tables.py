"""The tables of a sweep: one row a job, seeds aggregated, and what a search chose.

Rows that differ in nothing but seeds are repeats of one experiment, so their mean and standard deviation are over what
chance alone moved; a value that one seed leaves undefined is left out of both, and n says so. One seed has no standard
deviation. What a search chose in a fold is chosen by the score on its inner folds, never by the one beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from trajaudit.analysis.result import Estimate
from trajaudit.reports.table import Cell, Column, Row, Table

Number = int | float | None
COUNTS = ("runs", "answered", "unseen_runs", "unseen_gold_steps", "calls")
"""Metrics that count; the others are rates, or what their name says."""


@dataclass(frozen=True)
class SweptJob:
    """A job as a reader sees it: what was set for it, its state with a note, and its numbers by name."""

    settings: Mapping[str, str]
    state: str
    note: str | None
    metrics: Mapping[str, Number]


def jobs_table(name: str, jobs: Sequence[SweptJob]) -> Table:
    """Return one row a job: the settings that vary, the state, and every metric."""
    varying, fixed = _settings(jobs)
    metrics = _metrics(jobs)
    columns = [Column(key, key, "text") for key in varying]
    columns += [Column("state", "state", "text"), *(_column(metric) for metric in metrics)]
    columns.append(Column("note", "note", "text"))
    rows = [
        Row((*_set(job, varying), job.state, *(job.metrics.get(metric) for metric in metrics), job.note or ""))
        for job in jobs
    ]
    return Table("jobs", f"Jobs of sweep {name}", tuple(columns), tuple(rows), fixed)


def seeds_table(name: str, jobs: Sequence[SweptJob]) -> Table:
    """Return mean, standard deviation and n of every metric over jobs that differ in seeds only.

    >>> jobs = [SweptJob({"seed": str(n)}, "done", None, {"auc": auc}) for n, auc in enumerate((0.5, 0.7))]
    >>> mean, spread, n = seeds_table("x", jobs).rows[0].cells
    >>> mean, round(spread, 3), n
    (0.6, 0.141, 2)
    """
    varying, fixed = _settings(jobs)
    others = [key for key in varying if not is_seed(key)]
    metrics = [metric for metric in _metrics(jobs) if metric not in COUNTS]
    columns = [Column(key, key, "text") for key in others]
    for metric in metrics:
        columns += [_column(metric, "_mean"), _column(metric, "_sd"), Column(f"{metric}_n", "n", "count")]
    groups: dict[tuple[str, ...], list[SweptJob]] = {}
    for job in jobs:
        groups.setdefault(_set(job, others), []).append(job)
    rows = [Row((*own, *(cell for m in metrics for cell in _aggregated(group, m)))) for own, group in groups.items()]
    notes = ("sd is the sample standard deviation over seeds.", *fixed)
    return Table("seeds", f"Seeds of sweep {name}, aggregated", tuple(columns), tuple(rows), notes)


def chosen_table(name: str, jobs: Sequence[SweptJob]) -> Table:
    """Return, for a search, the job with the best score on inner folds in each outer fold that was searched."""
    varying, fixed = _settings(jobs)
    searched = [key for key in varying if key != "fold"]
    columns = [Column("fold", "fold", "text"), *(Column(key, key, "text") for key in searched)]
    columns += [Column("inner_auc", "inner auc"), Column("auc", "auc of the fold's test runs")]
    rows = [
        Row((job.settings["fold"], *_set(job, searched), job.metrics["inner_auc"], job.metrics.get("auc")))
        for job in chosen(jobs)
    ]
    notes = ("Chosen by the first figure, which no test run of the fold has a part in.", *fixed)
    return Table("chosen", f"What search {name} chose", tuple(columns), tuple(rows), notes)


def chosen(jobs: Sequence[SweptJob]) -> list[SweptJob]:
    """Return the job with the highest ``inner_auc`` of each fold, the first of equals."""
    best: dict[str, SweptJob] = {}
    for job in jobs:
        fold, score = job.settings["fold"], job.metrics.get("inner_auc")
        if score is not None and (fold not in best or score > (best[fold].metrics["inner_auc"] or 0.0)):
            best[fold] = job
    return [best[fold] for fold in sorted(best)]


def is_seed(key: str) -> bool:
    """Say whether a setting is a seed."""
    return key.rpartition(".")[2] == "seed"


def _aggregated(group: Sequence[SweptJob], metric: str) -> tuple[Cell, Cell, Cell]:
    values = [value for job in group if (value := job.metrics.get(metric)) is not None]
    if not values:
        return Estimate(None, reason="no job has a value"), Estimate(None, reason="no job has a value"), 0
    spread = stdev(values) if len(values) > 1 else Estimate(None, reason="one seed has no spread")
    return fmean(values), spread, len(values)


def _settings(jobs: Sequence[SweptJob]) -> tuple[list[str], tuple[str, ...]]:
    """Return the settings that vary, in the order of the command, and a note on those that do not."""
    keys = list(dict.fromkeys(key for job in jobs for key in job.settings))
    values = {key: {job.settings.get(key) for job in jobs} for key in keys}
    varying = [key for key in keys if len(values[key]) > 1 or is_seed(key) or key == "fold"]
    fixed = [f"{key}={jobs[0].settings[key]}" for key in keys if key not in varying]
    return varying, ((f"The same in every job: {' '.join(fixed)}",) if fixed else ())


def _metrics(jobs: Sequence[SweptJob]) -> list[str]:
    return list(dict.fromkeys(metric for job in jobs for metric in job.metrics))


def _set(job: SweptJob, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(job.settings.get(key, "") for key in keys)


def _column(metric: str, suffix: str = "") -> Column:
    kind = "count" if metric in COUNTS else "usd" if metric == "usd" else "rate"
    return Column(metric + suffix, f"{metric} {suffix.removeprefix('_')}".strip().replace("_", " "), kind)
