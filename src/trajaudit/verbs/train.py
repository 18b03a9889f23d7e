"""``trajaudit train``: fit a detector fold by fold, and leave an out-of-fold verdict on every labelled run.

The verdicts are the same record that a judge writes, in ``predictions.jsonl``, so `score` and `report` put both in one
table. What identifies them is all that could change them: detector, encoder, trainer, split, calibration and the
training runs with their labels. A finished run is never trained again; a killed one goes on from its last whole epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trajaudit._fields import Json, canonical
from trajaudit.auditor import spec_hash
from trajaudit.config import Choice, ConfigError
from trajaudit.dataset import Dataset
from trajaudit.datasets.infotabs import NliPairs
from trajaudit.detectors.calibration import Calibration
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.folds import Fold, checked_folds
from trajaudit.detectors.out_of_fold import Tested, out_of_fold
from trajaudit.runs import RunFolder, progress_bar
from trajaudit.runs.store import final_verdicts
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.fold_metrics import fold_metrics, summary
from trajaudit.verbs.judge import rules_of
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stacking import flags_for

NO_MATTER = (*IRRELEVANT, "trained_on.path", "trained_on.data_dir", "training.accelerator", "training.devices")


def train(
    *,
    dataset: Choice,
    split: Choice,
    detector: Choice,
    encoder: Choice,
    trainer: Choice,
    calibration: Choice,
    logger: Choice,
    paths: Paths,
    test: Choice | None = None,
    name: str | None = None,
    limit: int | None = None,
    fold: int | None = None,
) -> int:
    """Fit a detector fold by fold, and leave an out-of-fold verdict on every labelled run; a killed run resumes."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit: expected at least 1, got {limit}")
    pairs = dataset.build()
    if isinstance(pairs, NliPairs):
        from trajaudit.verbs.train_relations import relations  # it loads torch, and the other verbs list this module

        seed = detector.config.get("seed") or 0
        return relations(pairs, dataset, encoder, trainer, logger, paths, seed=seed, name=name, limit=limit)
    data = dataset_of(dataset)
    tested = data if test is None else dataset_of(test)
    runs = list(data.prefix(limit))
    folds = checked_folds(split.build(), runs, None if test is None else list(tested.prefix(limit)))
    folds = folds if fold is None else _only(fold, folds)
    how: Calibration = calibration.build()
    told = _told(detector, data, folds) | {"cache": Path(paths["output_dir"]) / "cache"}
    asked = {key: c for key, c in (("encoder", encoder), ("training", trainer)) if detector.wants(key)}
    told |= {key: choice.build() for key, choice in asked.items()}
    one: Detector = detector.build(**told)
    choices = {"split": split, "detector": detector, "calibration": calibration, **asked}
    config: dict[str, Json] = {key: choice.config for key, choice in choices.items()}
    config |= {"dataset": (test or dataset).config, "trained_on": dataset.config, "limit": limit}
    config |= {} if fold is None else {"fold": fold}
    if "training" in asked and "start" in one.spec:  # by its content: wherever it lies, it is the same start
        config["training"] = {**trainer.config, "start": one.spec["start"]}
    content = _content(folds)
    spec = {"detector": one.spec, "split": split.config, "calibration": calibration.config, "folds": content}
    spec |= how.promise
    with RunFolder.open(
        paths["output_dir"],
        "train",
        name or tested.name,
        config,
        data={**data.files, **tested.files, "items": content, f"auditor {one.name}": spec_hash(spec)},
        seeds={"detector": detector.config.get("seed"), "split": split.config.get("seed")},
        irrelevant=NO_MATTER,
        outputs=("predictions.jsonl", "metrics.json"),
    ) as folder:
        if folder.done:
            final_verdicts(folder.path / "predictions.jsonl")  # a damaged file is an error with its line
            print(f"already done: {folder.path / 'predictions.jsonl'}")
            return 0
        folder.note("auditors", {one.name: spec_hash(spec)})
        folder.note("folds", [fold.sizes() for fold in folds])
        with logger.build().job(folder.path, f"{one.name}-{folder.path.name}", config) as logs:
            make = _maker(detector, {**told, "logs": logs})
            found = _all_folds(make, folds, how, folder.path, spec, split.config.get("seed") or 0, one.name)
        _leave(folder, one.name, tested, found)
    return 0


def _told(detector: Choice, data: Dataset, folds: Sequence[Fold]) -> dict[str, Any]:
    """Return what only the run knows: what comes with the training data, and the folds."""
    told: dict[str, Any] = {"taxonomy": data.taxonomy, "procedure": data.procedure, "folds": folds}
    told |= {"standing_claims": data.procedure.standing_claims, "flags": flags_for(data)}
    return told | ({"check": rules_of(data)} if detector.wants("check") else {})


def _only(fold: int, folds: Sequence[Fold]) -> list[Fold]:
    if not 0 <= fold < len(folds):
        raise ConfigError(f"fold: expected 0 to {len(folds) - 1}, the folds of this split, got {fold}")
    return [folds[fold]]


def _maker(detector: Choice, told: dict[str, Any]) -> Callable[[], Detector]:
    """Return what makes a detector that is not fitted."""

    def make() -> Detector:
        built: Detector = detector.build(**told)
        return built

    return make


def _all_folds(
    make: Callable[[], Detector],
    folds: Sequence[Fold],
    how: Calibration,
    folder: Path,
    spec: Json,
    seed: int,
    name: str,
) -> list[Tested]:
    bar, found = progress_bar(f"train {name}", len(folds)), []
    try:
        for tested in out_of_fold(make, folds, how, folder, spec, seed):
            found.append(tested)
            bar.update()
    finally:
        bar.close()
    return found


def _leave(folder: RunFolder, name: str, data: Dataset, found: Sequence[Tested]) -> None:
    """Write the verdicts of all folds and what they are worth, fold by fold."""
    verdicts = [verdict for tested in found for verdict in tested.verdicts]
    write_jsonl(folder.path / "predictions.jsonl", verdicts)
    metrics = fold_metrics(name, data.name, found)
    (folder.path / "metrics.json").write_text(canonical(metrics).decode() + "\n")
    print(summary(metrics))
    print(f"predictions: {folder.path / 'predictions.jsonl'}")


def _content(folds: Sequence[Fold]) -> str:
    """Return one hash over what is trained on and tested in every fold, with labels."""
    sides = [[[item_of(run) for run in side] for side in (fold.train, fold.test)] for fold in folds]
    return hashlib.sha256(canonical(sides)).hexdigest()


def item_of(run: Trajectory) -> Json:
    """Return what of a labelled run can change a training on it."""
    return [run.id, run.content_hash, run.group, run.label.to_json() if run.label else None]
