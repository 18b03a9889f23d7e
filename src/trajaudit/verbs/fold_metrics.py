"""What a trained detector's folds are worth at a glance; intervals and comparisons are `trajaudit score`'s.

The pooled AUC ranks runs of all folds by their calibrated score; the mean within folds compares only runs that the same
weights scored. They part ways where folds differ in base rate or scale. An AUC over one class is null, with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from sklearn.metrics import roc_auc_score

from trajaudit._fields import Json
from trajaudit.detectors.out_of_fold import Tested
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

Pairs = Sequence[tuple[Trajectory, Verdict]]


def fold_metrics(detector: str, dataset: str, found: Sequence[Tested]) -> Json:
    """Return sizes, calibration and scores of each fold, and of all together."""
    folds = [
        {
            **tested.fold.sizes(),
            **scores(_pairs(tested)),
            "calibration": tested.calibrated.to_json(),
            "inner_auc": tested.inner_auc,
        }
        for tested in found
    ]
    everything = [pair for tested in found for pair in _pairs(tested)]
    within = [fold["auc"] for fold in folds if fold["auc"] is not None]
    pooled = {**scores(everything), "auc_within_folds": fmean(within) if within else None}
    inner = [tested.inner_auc for tested in found if tested.inner_auc is not None]
    about = {"detector": detector, "dataset": dataset, "pooled": pooled, "folds": folds}
    return {**about, "inner_auc": fmean(inner) if inner else None, **_objective(found)}


def _objective(found: Sequence[Tested]) -> Json:
    """Return what a search may maximise: the score on inner folds of one outer fold, else null with the reason.

    The inner folds of one outer fold hold the test runs of the others, so a choice by their mean would have seen them.
    """
    if len(found) > 1:
        reason = f"{len(found)} outer folds, whose test runs are each other's training runs; fold=K takes one"
        return {"objective": None, "objective_reason": reason}
    value = found[0].inner_auc
    why = "calibration.folds is 0, or no inner fold holds runs of both classes"
    return {"objective": value, "objective_reason": why if value is None else None}


def summary(metrics: Json) -> str:
    """Return the pooled line that ends a training."""
    pooled = metrics["pooled"]

    def shown(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.3f}"

    unseen = f"; {pooled['unseen_runs']} runs read in part" if pooled["unseen_runs"] else ""
    reasons = [reason for fold in metrics["folds"] if (reason := fold["calibration"]["reason"])]
    silent = f"; in {len(reasons)} folds {reasons[0]}" if reasons else ""
    return (
        f"{metrics['detector']} on {metrics['dataset']}: {pooled['runs']} runs in {len(metrics['folds'])} folds: "
        f"AUC {shown(pooled['auc'])} pooled, {shown(pooled['auc_within_folds'])} within folds; recall "
        f"{shown(pooled['recall'])} at {shown(pooled['false_alarm'])} false alarms{unseen}{silent}"
    )


def _pairs(tested: Tested) -> Pairs:
    return list(zip(tested.fold.test, tested.verdicts, strict=True))


def scores(pairs: Pairs) -> dict[str, Json]:
    """Return what verdicts on labelled runs are worth: AUC, recall, false alarms, and how many were answered."""
    truth = [run.label is not None and run.label.faulty for run, _ in pairs]
    flagged = [bool(verdict.faulty) for _, verdict in pairs]
    answered = [(t, verdict.score) for t, (_, verdict) in zip(truth, pairs, strict=True) if verdict.score is not None]
    classes = {t for t, _ in answered}
    both = len(classes) == 2
    return {
        "runs": len(pairs),
        "answered": len(answered),
        "auc": float(roc_auc_score(*zip(*answered, strict=True))) if both else None,
        "auc_reason": None if both else "the runs are of one class",
        "recall": _share(flagged, truth, True),
        "false_alarm": _share(flagged, truth, False),
        "unseen_runs": sum(verdict.unseen is not None for _, verdict in pairs),
        "unseen_gold_steps": sum(_gold_unseen(run, verdict) for run, verdict in pairs),
    }


def _share(flagged: Sequence[bool], truth: Sequence[bool], kind: bool) -> float | None:
    among = [flag for flag, t in zip(flagged, truth, strict=True) if t == kind]
    return fmean(among) if among else None


def _gold_unseen(run: Trajectory, verdict: Verdict) -> bool:
    """Say whether tokens of the step of a labelled fault were never read."""
    steps = {fault.step for fault in run.label.faults} if run.label is not None else set()
    return verdict.unseen is not None and bool(steps & set(verdict.unseen.steps))
