"""The recipe of the execution-quality signals: the paper's table, smart_grid's and asset_ops', and smart_grid's judge.

The constructed runs are a mixture of faults at the rates of Trajel's annotations, so that they are as many-sided as the
paper's; their flags are rules over the run and their label is what was injected, so neither comes from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

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
from trajaudit.reports.signal_tables import (
    area_table,
    increment_table,
    noise_table,
    order_table,
    pair_table,
    signal_table,
    type_table,
)
from trajaudit.reports.signals import findings, ledger, signal_set
from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.testbeds.asset_ops.signals import flags_of
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats

ONE_CALL = (
    "in smart_grid flags and label come from one call of one judge, which fills both into one form: how well a flag "
    "tells the label there is how consistent the judge is within one answer, not evidence that the flag predicts "
    "hallucination"
)


INJECTED = (
    "in asset_ops flags are rules over the run and the label is what was injected: a flag is lost only by a fault, so "
    "its AUC is one half more than half the share of faulty runs that lose it"
)


def signals(
    *,
    dataset: Dataset,
    stats: Stats,
    data_dir: str,
    clone: str | None = None,
    preset: Literal["single", "varied", "mixture"] = "mixture",
    n: int = 1000,
    seed: int = 7,
    figures: str | None = None,
) -> Reproduction:
    """Measure the five flags on smart_grid and on asset_ops beside the paper's table.

    Args:
        data_dir, clone: where the judgments are, as the dataset was told.
        preset, n, seed: the set of asset_ops runs; as many with one fault each show what each type takes away.
        figures: the published figures; the file that ships with trajaudit where null.
    """
    path = Path(figures) if figures else experiments_dir() / "signals" / "published.yaml"
    published = yaml.safe_load(path.read_text(encoding="utf-8"))
    judgments = smart_grid_judgments(data_dir=data_dir, clone=clone)
    how = (stats["resamples"], stats["seed"], stats["level"])
    runs = {"smart_grid": judged_flags(dataset, judgments), "asset_ops": ruled_flags(generate(preset, n, seed))}
    sets = [signal_set(key, flagged, published, *how) for key, flagged in runs.items()]
    table = signal_table(published, sets)
    single = list(generate("varied", n, seed))
    kinds = [_kind(run) for run in single]
    tables = [pair_table(published, sets), increment_table(sets), area_table(sets), order_table(sets)]
    tables.append(type_table(ruled_flags(single), kinds, *how))
    noise = judge_noise(dataset, judgments, *how)
    return Reproduction(
        ledger(published),
        table,
        [*tables, noise_table(noise)],
        [signal_forest(table)],
        [ONE_CALL, INJECTED, *findings(published, sets), _noise_finding(noise), cut_finding(dataset)],
        {**dataset.files, path.name: file_hash(path)},
    )


def judged_flags(dataset: Dataset, judgments: Mapping[str, tuple[Judgment, ...]]) -> FlaggedRuns:
    """Return the labelled runs with the flags of each one's first judgment."""
    return _flagged((run, judgments[run.id][0].flags) for run in dataset)


def ruled_flags(runs: Iterable[Trajectory]) -> FlaggedRuns:
    """Return labelled runs of the plant with the flags that its rules give them."""
    return _flagged((run, flags_of(run)) for run in runs)


def _kind(run: Trajectory) -> str:
    """Return the type of a run's fault, or that it is clean."""
    return run.label.first.type if run.label is not None and run.label.first is not None else "clean"


def _flagged(runs: Iterable[tuple[Trajectory, Mapping[str, bool]]]) -> FlaggedRuns:
    labelled = [(run, run.label, flags) for run, flags in runs if run.label is not None]
    return FlaggedRuns(
        tuple(EXECUTION_FLAGS),
        np.array([[flags[flag] for flag in EXECUTION_FLAGS] for _, _, flags in labelled]),
        np.array([label.faulty for _, label, _ in labelled]),
        tuple(run.group for run, _, _ in labelled),
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
