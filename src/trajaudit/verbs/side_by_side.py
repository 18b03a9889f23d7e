"""All auditors on one set of runs: what trainings said of the runs they were tested on, and the free auditors beside.

A verdict that is decided clean names no step any more, but its step scores still say which step is the most suspicious:
that one is put back, so that localisation can be asked of every faulty run and not only of those above a threshold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trajaudit._fields import RecordError, canonical
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.free_auditors import free_makers
from trajaudit.verbs.judge import rules_of
from trajaudit.verbs.trained import TrainedRun, config_of
from trajaudit.verdict import Verdict, check_verdicts

Said = dict[str, list[Sequence[Verdict]]]
"""For each auditor its verdicts, one list a seed."""


def sets_of(trained: Sequence[TrainedRun]) -> tuple[list[Trajectory], list[Trajectory]]:
    """Return the runs that all trainings learnt from, and those that all were tested on."""
    first = config_of(trained[0].path)
    for run in trained:
        config = config_of(run.path)
        for key in ("trained_on", "dataset", "limit"):
            if canonical(config[key]) != canonical(first[key]):
                raise RecordError(
                    f"{run.path}: {key}: expected {first[key]}, as in {trained[0].path}, got {config[key]}"
                )
    sides = [dataset_of(Choice(key, first[key])).prefix(first["limit"]) for key in ("trained_on", "dataset")]
    learnt_from, tested = ([run for run in side if run.label is not None] for side in sides)
    return learnt_from, tested


def by_auditor(trained: Sequence[TrainedRun], tested: Sequence[Trajectory]) -> Said:
    """Return the verdicts of each trained auditor, one list a seed, with the most suspicious step of every run."""
    said: Said = {}
    seen: dict[tuple[str, Any, Any], Path] = {}
    for run in trained:
        key = run.auditor, run.seed, run.start
        if key in seen:
            raise RecordError(f"{run.path}: {run.auditor} with seeds {key[1:]} is in {seen[key]} too")
        seen[key] = run.path
        check_verdicts(run.verdicts, tested)
        said.setdefault(run.auditor, []).append([_pointed(verdict) for verdict in run.verdicts])
    return said


def _pointed(verdict: Verdict) -> Verdict:
    """Return a verdict that names its most suspicious step, which one that is decided clean no longer does."""
    scores = verdict.step_scores
    return verdict if scores is None or len(set(scores)) < 2 else replace(verdict, step=int(np.argmax(scores)))


def free(dataset: Dataset, learnt_from: Sequence[Trajectory], tested: Sequence[Trajectory]) -> dict[str, list[Verdict]]:
    """Return what the free auditors say: rules, and conformance and claims that learn from clean runs alone."""
    makers = free_makers(rules_of(dataset), dataset.taxonomy, dataset.procedure.standing_claims, "standing_claims")
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in makers.items():
            one = make()
            one.fit(learnt_from, Path(folder))
            said[name] = [_pointed(verdict) for verdict in one.predict(tested)]
    return said
