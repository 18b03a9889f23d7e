"""A verdict on every run by a detector that never saw its group: fit, calibrate on inner folds, decide, fold by fold.

What a fold leaves behind is who was trained on and tested, its calibrated verdicts, its raw ones and its checkpoint. A
fold that is finished is read, not fitted again; one that was killed goes on where its own fits can. The order inside a
fold keeps test runs out of every choice: inner folds are made of training runs, the threshold is frozen on them, and
only then is the test part asked.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from sklearn.metrics import roc_auc_score

from trajaudit._fields import Json, canonical, dumps
from trajaudit.auditor import spec_hash
from trajaudit.detectors.calibration import Calibrated, Calibration, calibrate
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.ensemble import Ensemble, InnerFit, ensemble_of
from trajaudit.detectors.fold_records import write_record
from trajaudit.detectors.folds import Fold, faulty_of, stratified
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verdict import Verdict, read_verdicts


@dataclass(frozen=True)
class Tested:
    """One fold's outcome: calibrated and raw verdicts on its test runs, and the calibration frozen for them.

    ``inner_auc`` is the mean over inner folds of the AUC on the training runs that each held out (null where none held
    both classes, or there are none): the score by which hyper-parameters may be chosen, since no test run has a part in
    it.
    """

    fold: Fold
    verdicts: list[Verdict]
    raw: list[Verdict]
    calibrated: Calibrated
    inner_auc: float | None


def out_of_fold(
    make: Callable[[], Detector],
    folds: Sequence[Fold],
    how: Calibration,
    folder: Path,
    spec: Json,
    seed: int = 0,
) -> Iterator[Tested]:
    """Yield each fold's outcome as it is there.

    Args:
        make: a detector that is not fitted.
        spec: everything that could change a verdict (the detector's own spec, split, calibration, training data); its
            hash is what the verdicts are filed under.
        folder: each fold gets one of its own inside.
    """
    for number, fold in enumerate(folds):
        place = folder / f"fold-{number}"
        place.mkdir(parents=True, exist_ok=True)
        write_record(fold, place)
        yield _finished(fold, place, spec) or _tested(make, fold, how, place, spec, seed)


def _tested(make: Callable[[], Detector], fold: Fold, how: Calibration, place: Path, spec: Json, seed: int) -> Tested:
    detector, calibrated, inner_auc = _fitted(make, fold.train, how, place, seed)
    raw = [replace(verdict, spec_hash=spec_hash(spec)) for verdict in detector.predict(fold.test)]
    if [verdict.trajectory_id for verdict in raw] != [run.id for run in fold.test]:
        raise ValueError(f"{detector.name}: expected one verdict a run, in order, got {len(raw)} for {len(fold.test)}")
    verdicts = [calibrated.verdict(verdict) for verdict in raw]
    write_jsonl(place / "raw.jsonl", raw)
    write_jsonl(place / "verdicts.jsonl", verdicts)
    done = {"key": _key(fold, spec), "fold": fold.sizes(), "calibration": calibrated.to_json()}
    done["inner_auc"] = inner_auc
    (place / "fold.json").write_text(dumps(done))
    for inner in place.glob("inner-*"):
        shutil.rmtree(inner)
    return Tested(fold, verdicts, raw, calibrated, inner_auc)


def _fitted(
    make: Callable[[], Detector], runs: Sequence[Trajectory], how: Calibration, place: Path, seed: int
) -> tuple[Detector | Ensemble, Calibrated, float | None]:
    """Return what is fitted on ``runs``, with a calibration and the mean AUC on runs that no fit asked has seen."""
    if how.folds == 0:
        return _fit(make, runs, place / "model"), Calibrated(), None
    if how.folds == 1:
        (one,) = _inner_fits(make, runs, max(2, round(1 / how.share)), [place / "model"], seed)
        return one.detector, calibrate(one.scores, one.faulty, how), _auc([one])
    name = "inner" if how.false_alarms is None else "model"
    inner = _inner_fits(make, runs, how.folds, [place / f"{name}-{part}" for part in range(how.folds)], seed)
    if how.false_alarms is not None:
        return *ensemble_of(inner, how.method, how.false_alarms), _auc(inner)
    scores, faulty = ([value for fit in inner for value in fit.scores], [flag for fit in inner for flag in fit.faulty])
    return _fit(make, runs, place / "model"), calibrate(scores, faulty, how), _auc(inner)


def _inner_fits(
    make: Callable[[], Detector], runs: Sequence[Trajectory], parts: int, folders: Sequence[Path], seed: int
) -> list[InnerFit]:
    """Return one fit a folder; each leaves out another of ``parts`` inner folds and scores the runs of that one."""
    inner, found = stratified(runs, clusters(runs), parts, seed), []
    for part, folder in enumerate(folders):
        train = [run for run, own in zip(runs, inner, strict=True) if own != part]
        held = [run for run, own in zip(runs, inner, strict=True) if own == part]
        detector = _fit(make, train, folder)
        answered = [(v.score, run) for v, run in zip(detector.predict(held), held, strict=True) if v.score is not None]
        found.append(InnerFit(detector, [score for score, _ in answered], faulty_of([run for _, run in answered])))
    return found


def _auc(inner: Sequence[InnerFit]) -> float | None:
    """Return the mean AUC of raw scores over the inner folds that hold both classes, null where none does."""
    both = [fit for fit in inner if len(set(fit.faulty)) == 2]
    return fmean(float(roc_auc_score(fit.faulty, fit.scores)) for fit in both) if both else None


def _fit(make: Callable[[], Detector], runs: Sequence[Trajectory], folder: Path) -> Detector:
    folder.mkdir(parents=True, exist_ok=True)
    detector = make()
    detector.fit(runs, folder)
    return detector


def _finished(fold: Fold, place: Path, spec: Json) -> Tested | None:
    """Return what an earlier run made of this very fold, null where it did not finish it."""
    mark = place / "fold.json"
    if not mark.is_file():
        return None
    done = json.loads(mark.read_text())
    if done["key"] != _key(fold, spec) or "inner_auc" not in done:
        return None
    points = tuple((a, b) for a, b in done["calibration"]["points"])
    calibrated = Calibrated(**{**done["calibration"], "points": points})
    raw, verdicts = (list(read_verdicts(place / name)) for name in ("raw.jsonl", "verdicts.jsonl"))
    return Tested(fold, verdicts, raw, calibrated, done["inner_auc"])


def _key(fold: Fold, spec: Json) -> str:
    sides = [
        [[run.id, run.content_hash, run.label and run.label.to_json()] for run in s] for s in (fold.train, fold.test)
    ]
    return hashlib.sha256(canonical({"spec": spec, "runs": sides})).hexdigest()
