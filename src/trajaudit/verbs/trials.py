"""Trainings as points of learning curves: which detector, from which source, on how many labels of the target.

A start is matched to the training of its source by the hash of its weights, never by a path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trajaudit._fields import Json, RecordError, canonical, file_hash
from trajaudit.reports.transfer import MOST
from trajaudit.verbs.trained import TrainedRun, config_of, target_of

WEIGHTS = "fold-0/model/best.ckpt"
Key = tuple[str, str | None, int | None]
"""Of a cell of a target: detector, source (null for none), labels (0 for none, null for all)."""


@dataclass(frozen=True)
class Trial:
    """One training: which runs it was tested on (``target``, the choice of its dataset), and what it learnt from."""

    run: TrainedRun
    target: Mapping[str, Any]
    key: Key
    draw: tuple[Json, Json]

    @property
    def where(self) -> bytes:
        return canonical(self.target)


def order(key: Key) -> tuple[str, str, int]:
    """Return where a cell stands in a table."""
    detector, source, labels = key
    return detector, source or "", MOST if labels is None else labels


def trials_of(found: Sequence[TrainedRun]) -> list[Trial]:
    """Return the trainings of a curve among others.

    Raises:
        RecordError: two are the same, or one started from weights that none of ``found`` has.
    """
    configs = [(run, config_of(run.path)) for run in found]
    sources = {
        file_hash(run.path / WEIGHTS): target_of(config, "trained_on")
        for run, config in configs
        if run.split == "Transfer" and (run.path / WEIGHTS).is_file()
    }
    trials: dict[Json, Trial] = {}
    for run, config in configs:
        if run.split not in ("Transfer", "FewShot"):
            continue
        seed = config["detector"].get("seed")
        if run.split == "Transfer":
            key: Key = (run.auditor, target_of(config, "trained_on"), 0)
            trial = Trial(run, config["dataset"], key, (0, seed))
        else:
            key = (run.auditor, _source(run, config, sources), config["split"]["labels"])
            trial = Trial(run, config["dataset"], key, (config["split"]["draw"], seed))
        if other := trials.get(same := (trial.where, trial.key, trial.draw)):
            raise RecordError(
                f"{run.path}: {', '.join(map(str, key))}, draw and seed {trial.draw}: {other.run.path} is the same"
            )
        trials[same] = trial
    return list(trials.values())


def _source(run: TrainedRun, config: Any, sources: Mapping[str, str]) -> str | None:
    """Return the dataset whose training a few-shot training started from; null where it started from nothing."""
    start = config.get("training", {}).get("start")
    if start is None:
        return None
    if start["weights"] not in sources:
        raise RecordError(f"{run.path}: started from weights {start['weights'][:12]}…, which no training there has")
    return sources[start["weights"]]


def tested_by(trials: Sequence[Trial]) -> set[str]:
    """Return the runs that a target's points are measured on: those that its few-shot trainings tested.

    Raises:
        RecordError: they tested different ones.
    """
    few = [trial for trial in trials if trial.run.split == "FewShot"]
    sets = {frozenset(verdict.trajectory_id for verdict in trial.run.verdicts): trial for trial in few or trials}
    if len(sets) > 1:
        paths = " and ".join(str(trial.run.path) for trial in list(sets.values())[:2])
        raise RecordError(f"{paths}: tested other runs of the same set; a curve needs one split.seed and split.parts")
    return set(next(iter(sets)))
