"""The recipe of `experiments/context_ordering`: does the context that a detector reads decide which faults it finds?

Trajel's section 4.2 predicts that step classifiers do best on factual faults, entailment on referential and logical
ones, long context on procedural and scope faults. The plant knows the type, the step and the stratum of every fault by
construction, so the prediction is put to the test there, as interaction contrasts that were declared before anything
was trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trajaudit.analysis import score, tabulate
from trajaudit.analysis.ordering import STRATA, Contrast, areas, contrasts, profiles
from trajaudit.analysis.table import Answers
from trajaudit.config import resolve
from trajaudit.dataset import Dataset
from trajaudit.reports import scorecard_tables
from trajaudit.reports.ordering import contrast_table, profile_table, verdict_of
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.free_auditors import free_makers
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats
from trajaudit.verbs.trained import hashes, trained_runs
from trajaudit.verdict import Verdict

PREDICTED = {
    "bert_step": ("factual",),
    "nli": ("referential", "logical"),
    "longformer": ("procedural", "scope"),
}
"""The paper's prediction: the fault types that each paradigm should do best on."""
FREE = ("rules", "claims")
SHOWN = ("summary", "detection", "localisation", "typing", "calibration")
PLACEBO = ("tfidf", "length")


def context_ordering(*, dataset: Dataset, stats: Stats, runs: str) -> Reproduction:
    """Score every training under a folder by fault type and stratum, and test the prediction.

    Args:
        dataset: the runs that the trainings were tested on.
        runs: folder that `trajaudit train experiment=context_ordering` wrote to.

    Raises:
        FileNotFoundError: no training there.
        ValueError: a paradigm of the prediction has none.
    """
    tested = list(dataset)
    trained = trained_runs(Path(runs), dataset.name)
    found: dict[str, list[Sequence[Verdict]]] = {}
    for one in trained:
        found.setdefault(one.auditor, []).append(one.verdicts)
    if missing := [name for name in PREDICTED if name not in found]:
        raise ValueError(
            f"recipe.runs: no training of {', '.join(missing)} under {runs}; "
            f"trajaudit train experiment=context_ordering -m detector={','.join(missing)}"
        )
    free = _free(dataset, tested)
    seeds = {name: [_answers(tested, verdicts) for verdicts in of] for name, of in found.items()}
    everyone = {**seeds, **{name: [_answers(tested, verdicts)] for name, verdicts in free.items()}}
    items, _ = tabulate(tested, ())
    how: dict[str, Any] = {"resamples": stats["resamples"], "seed": stats["seed"]}
    ready = areas(items, everyone, **how)
    rows = profiles(items, everyone, ready, level=stats["level"], **how)
    placebo = [name for name in PLACEBO if name in found]
    said = [c for stratum in STRATA for c in contrasts(ready, PREDICTED, stratum, stats["level"], placebo)]
    first = [verdict for of in found.values() for verdict in of[0]] + [v for of in free.values() for v in of]
    cards = score(*tabulate(tested, first), **stats)
    return Reproduction(
        [],
        contrast_table(said),
        [
            *(profile_table(rows, stratum) for stratum in STRATA),
            *(table for table in scorecard_tables(cards) if table.key in SHOWN),
        ],
        [],
        _findings(said, {name: len(of) for name, of in found.items()}),
        {**dataset.files, **hashes(trained)},
    )


def _answers(tested: Sequence[Trajectory], verdicts: Sequence[Verdict]) -> Answers:
    (own,) = tabulate(tested, verdicts)[1].values()
    return own


def _free(dataset: Dataset, tested: Sequence[Trajectory]) -> dict[str, list[Verdict]]:
    """Return what the auditors say that need no training: the rule engine and the claim checker."""
    check = resolve(f"trajaudit.testbeds.{dataset.rules}.rules.check", "dataset.rules")
    make = free_makers(check, dataset.taxonomy, dataset.procedure.standing_claims, "standing_claims")
    said = {}
    for name in FREE:
        verdicts = make[name]().predict(tested)
        said[name] = [replace(verdict, latency_s=None) for verdict in verdicts]  # differs by machine
    return said


def _findings(said: Sequence[Contrast], seeds: dict[str, int]) -> list[str]:
    told = []
    for row in said:
        if row.detector in PREDICTED and row.stratum == "all":
            d = row.difference
            told.append(
                f"{row.detector} on {' and '.join(row.types)}: {verdict_of(row)}, contrast {d.value:+.3f} "
                f"[{d.low:+.3f}, {d.high:+.3f}]"
            )
    counted = ", ".join(f"{name} {count}" for name, count in seeds.items())
    return [*told, f"trainings, by detector: {counted}"]
