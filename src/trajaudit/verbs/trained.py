"""What `trajaudit train` left: every finished training under a folder, with the choices that made it.

A detector is known by its auditor's name, its split, the seed of the split and its own; two trainings that agree in all
four would be counted twice, and are refused.
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

    The seed is the split's, or the detector's where the split draws nothing. ``start`` is the detector's own seed, None
    where nothing of it is drawn.
    """

    path: Path
    auditor: str
    split: str
    seed: int | None
    verdicts: tuple[Verdict, ...]
    start: int | None = None


def every_training(root: str | Path, dataset: str | None = None) -> list[TrainedRun]:
    """Return the trainings under a folder, by path; on one dataset (the last name of its ``_target_``) if given.

    Raises:
        FileNotFoundError: there is none.
        RecordError: a file is broken.
    """
    paths = [path.parent for path in sorted(Path(root).rglob(PREDICTIONS))]
    found = [_read(path) for path in paths if _is_of(path, dataset)]
    if not found:
        on = "" if dataset is None else f" on {dataset}"
        raise FileNotFoundError(f"recipe.runs: no {PREDICTIONS}{on} under {root}; `trajaudit train` writes them")
    return found


def trained_runs(root: str | Path, dataset: str, *, starts: bool = False) -> list[TrainedRun]:
    """Return the trainings on a dataset, sorted by auditor, split, seed and start.

    Args:
        root: folder that `trajaudit train` wrote to.
        dataset: the last name of its ``_target_``.
        starts: whether trainings that differ in the detector's own seed alone may stand side by side.

    Raises:
        FileNotFoundError: there is none.
        RecordError: a file is broken, or two trainings are the same.
    """
    return distinct(every_training(root, dataset), starts=starts)


def distinct(found: Sequence[TrainedRun], *, starts: bool = False) -> list[TrainedRun]:
    """Return trainings sorted by auditor, split, seed and start, no two the same (see `trained_runs`)."""
    seen: dict[tuple[str, str, int | None, int | None], Path] = {}
    for run in found:
        key = run.auditor, run.split, run.seed, run.start if starts else None
        if key in seen:
            raise RecordError(f"{run.path}: {run.auditor} with {run.split} and seed {run.seed} is in {seen[key]} too")
        seen[key] = run.path
    return sorted(found, key=lambda run: (run.auditor, run.split, run.seed or 0, run.start or 0))


def hashes(runs: Sequence[TrainedRun]) -> dict[str, str]:
    """Return the SHA-256 of each training's predictions, by auditor, split, seed and, where another, the detector's."""
    return {
        f"{run.auditor}, {run.split}, seed {run.seed}{_started(run)}": file_hash(run.path / PREDICTIONS) for run in runs
    }


def _started(run: TrainedRun) -> str:
    return "" if run.start in (None, run.seed) else f", started from {run.start}"


def hashes_by_path(runs: Sequence[TrainedRun], root: str | Path) -> dict[str, str]:
    """Return the SHA-256 of each training's predictions, by its folder under ``root``."""
    return {run.path.relative_to(root).as_posix(): file_hash(run.path / PREDICTIONS) for run in runs}


def config_of(folder: Path) -> Any:
    """Return the choices that made a training."""
    path = folder / "config.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def target_of(config: Any, choice: str) -> str:
    """Return the last name of a choice's ``_target_``; empty where there is none."""
    return str(config.get(choice, {}).get("_target_", "")).rpartition(".")[2]


def _is_of(folder: Path, dataset: str | None) -> bool:
    """Say whether a folder is of a training on the dataset, in all folds: one of a search works in one only."""
    config = config_of(folder)
    return dataset in (None, target_of(config, "dataset")) and config.get("fold") is None


def _read(folder: Path) -> TrainedRun:
    config, verdicts = config_of(folder), tuple(final_verdicts(folder / PREDICTIONS))
    names = {verdict.auditor for verdict in verdicts}
    if len(names) != 1:
        raise RecordError(f"{folder / PREDICTIONS}: expected the verdicts of one auditor, got {sorted(names)}")
    split = config["split"]
    start = config.get("detector", {}).get("seed")
    return TrainedRun(folder, names.pop(), target_of(config, "split"), split.get("seed", start), verdicts, start)
