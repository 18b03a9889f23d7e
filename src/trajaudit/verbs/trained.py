"""What `trajaudit train` left: every finished training under a folder, with the choices that made it.

A detector is known by its auditor's name, its split and its seed; two trainings that agree in all three would be
counted twice, and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trajaudit._fields import RecordError, file_hash
from trajaudit.runs.store import final_verdicts
from trajaudit.verdict import Verdict

PREDICTIONS = "predictions.jsonl"


@dataclass(frozen=True)
class TrainedRun:
    """One training: the auditor, the class name of its split, a seed, and the out-of-fold verdicts.

    The seed is the split's, or the detector's where the split draws nothing.
    """

    path: Path
    auditor: str
    split: str
    seed: int | None
    verdicts: tuple[Verdict, ...]


def trained_runs(root: str | Path, dataset: str) -> list[TrainedRun]:
    """Return the trainings on a dataset (the last name of its ``_target_``), sorted by auditor, split and seed.

    Raises:
        FileNotFoundError: there is none.
        RecordError: a file is broken, or two trainings are the same.
    """
    found = [_read(path.parent) for path in sorted(Path(root).rglob(PREDICTIONS)) if _is_of(path.parent, dataset)]
    if not found:
        raise FileNotFoundError(
            f"recipe.runs: no {PREDICTIONS} on {dataset} under {root}; `trajaudit train` writes them"
        )
    seen: dict[tuple[str, str, int | None], Path] = {}
    for run in found:
        key = run.auditor, run.split, run.seed
        if key in seen:
            raise RecordError(f"{run.path}: {run.auditor} with {run.split} and seed {run.seed} is in {seen[key]} too")
        seen[key] = run.path
    return sorted(found, key=lambda run: (run.auditor, run.split, run.seed or 0))


def hashes(runs: Sequence[TrainedRun]) -> dict[str, str]:
    """Return the SHA-256 of each training's predictions, by auditor, split and seed."""
    return {f"{run.auditor}, {run.split}, seed {run.seed}": file_hash(run.path / PREDICTIONS) for run in runs}


def _config(folder: Path) -> Any:
    path = folder / "config.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _is_of(folder: Path, dataset: str) -> bool:
    """Say whether a folder is of a training on the dataset, in all folds: one of a search works in one only."""
    config = _config(folder)
    target = str(config.get("dataset", {}).get("_target_", ""))
    return target.rpartition(".")[2] == dataset and config.get("fold") is None


def _read(folder: Path) -> TrainedRun:
    config, verdicts = _config(folder), tuple(final_verdicts(folder / PREDICTIONS))
    names = {verdict.auditor for verdict in verdicts}
    if len(names) != 1:
        raise RecordError(f"{folder / PREDICTIONS}: expected the verdicts of one auditor, got {sorted(names)}")
    split = config["split"]
    seed = split.get("seed", config.get("detector", {}).get("seed"))
    return TrainedRun(folder, names.pop(), split["_target_"].rpartition(".")[2], seed, verdicts)
