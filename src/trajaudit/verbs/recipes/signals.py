"""The recipe of the execution-quality signals: the paper's table, smart_grid's, and how noisy its judge is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml

from trajaudit._fields import file_hash
from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.rates import rate_differences
from trajaudit.analysis.repeats import self_agreement
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.signals import FlaggedRuns
from trajaudit.config import experiments_dir
from trajaudit.dataset import Dataset
from trajaudit.datasets.smart_grid import smart_grid_judgments
from trajaudit.datasets.smart_grid_judgments import SHOWN, Judgment
from trajaudit.reports.figures import signal_forest
from trajaudit.reports.signals import (
    area_table,
    findings,
    increment_table,
    ledger,
    noise_table,
    order_table,
    pair_table,
    signal_set,
    signal_table,
)
from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats

ONE_CALL = (
    "in smart_grid flags and label come from one call of one judge, which fills both into one form: how well a flag "
    "tells the label there is how consistent the judge is within one answer, not evidence that the flag predicts "
    "hallucination"
)


def signals(
    *, dataset: Dataset, stats: Stats, data_dir: str, clone: str | None = None, figures: str | None = None
) -> Reproduction:
    """Measure the five flags on smart_grid beside the paper's table.

    Args:
        data_dir, clone: where the judgments are, as the dataset was told.
        figures: the published figures; the file that ships with trajaudit where null.
    """
    path = Path(figures) if figures else experiments_dir() / "signals" / "published.yaml"
    published = yaml.safe_load(path.read_text(encoding="utf-8"))
    judgments = smart_grid_judgments(data_dir=data_dir, clone=clone)
    how = (stats["resamples"], stats["seed"], stats["level"])
    sets = [signal_set("smart_grid", flagged_runs(dataset, judgments), published, *how)]
    table = signal_table(published, sets)
    tables = [pair_table(published, sets), increment_table(sets), area_table(sets), order_table(sets)]
    noise = judge_noise(dataset, judgments, *how)
    return Reproduction(
        ledger(published),
        table,
        [*tables, noise_table(noise)],
        [signal_forest(table)],
        [ONE_CALL, *findings(published, sets), _noise_finding(noise), cut_finding(dataset)],
        {**dataset.files, path.name: file_hash(path)},
    )


def flagged_runs(dataset: Dataset, judgments: Mapping[str, tuple[Judgment, ...]]) -> FlaggedRuns:
    """Return the labelled runs with the flags of each one's first judgment."""
    runs = [(run, run.label) for run in dataset if run.label is not None]
    flags = [judgments[run.id][0].flags for run, _ in runs]
    return FlaggedRuns(
        tuple(EXECUTION_FLAGS),
        np.array([[given[flag] for flag in EXECUTION_FLAGS] for given in flags]),
        np.array([label.faulty for _, label in runs]),
        tuple(run.group for run, _ in runs),
    )


def judge_noise(
    dataset: Dataset, judgments: Mapping[str, tuple[Judgment, ...]], resamples: int, seed: int, level: float
) -> dict[str, tuple[Estimate, Estimate]]:
    """Return agreement and kappa of the judge with itself, on each flag and on the label."""
    again = [run for run in dataset if len(judgments[run.id]) > 1]
    said = {flag: [[one.flags[flag] for one in judgments[run.id]] for run in again] for flag in EXECUTION_FLAGS}
    said["hallucinates"] = [[one.hallucinates for one in judgments[run.id]] for run in again]
    made = [statistic for of_all in said.values() for statistic in self_agreement(of_all)]
    ready = estimates(clustered([run.group for run in again]), made, resamples, seed, level)
    return dict(zip(said, zip(ready[::2], ready[1::2], strict=True), strict=True))


def cut_finding(dataset: Dataset) -> str:
    """Return whether the judge calls runs hallucinating more often where it was not shown all of their steps."""
    runs = [(run, run.label) for run in dataset if run.label is not None]
    seen = ["seen whole" if run.source.meta["judge_saw_all"] else "cut" for run, _ in runs]
    made = rate_differences(np.array([label.faulty for _, label in runs]), seen, [run.group for run, _ in runs])
    return (
        f"the judge was shown the first {SHOWN:,} characters of a run's steps: of the {seen.count('cut')} runs that it "
        f"saw cut it calls {made.rates['cut']:.3f} hallucinating, of the {seen.count('seen whole')} that it saw whole "
        f"{made.rates['seen whole']:.3f} (p {made.p_value:.2g}, scenarios as clusters; cut runs are also the long ones)"
    )


def _noise_finding(noise: Mapping[str, tuple[Estimate, Estimate]]) -> str:
    agreed, kappa = noise["hallucinates"]
    flag = min(EXECUTION_FLAGS, key=lambda name: noise[name][1].value or 0.0)
    return (
        f"the judge agrees with itself on the label in {agreed.value:.3f} of the pairs of judgments (kappa "
        f"{kappa.value:.3f}, {agreed.n} runs), least on {flag} (kappa {noise[flag][1].value:.3f}): it repeats itself, "
        "which says nothing of whether it is right"
    )
