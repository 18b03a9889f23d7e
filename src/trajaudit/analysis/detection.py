"""Does the auditor see that something went wrong? Rates of flags by stratum, and rankings by score.

Recall is reported pooled and apart for silent and loud faults, because that gap is what the testbed paper is about
(section 5): the pooled figure depends on the mix of the set, the two others do not. Precision, F1 and accuracy depend
on the share of faulty trajectories, which is therefore printed beside them (``base_rate``).
"""

from __future__ import annotations

import numpy as np

from trajaudit.analysis.curves import ranking
from trajaudit.analysis.statistic import BoolArray, FloatArray, Metric, Statistic, divide, rate, undefined
from trajaudit.analysis.table import Answers, Items

METRICS = {
    "base_rate": Metric("detection", "none", "share of the trajectories that are faulty: a property of the set"),
    "flag_rate": Metric("detection", "none", "share of the trajectories that the auditor flags"),
    "precision": Metric("detection", "higher", "share of the flagged trajectories that are faulty"),
    "recall": Metric("detection", "higher", "share of the faulty trajectories that are flagged"),
    "silent_recall": Metric("detection", "higher", "share flagged of the faulty ones whose outcome is still right"),
    "loud_recall": Metric("detection", "higher", "share flagged of the faulty ones whose outcome is wrong"),
    "blind_spot": Metric(
        "detection", "lower", "loud recall less silent recall: what is missed once the outcome survives"
    ),
    "f1": Metric("detection", "higher", "harmonic mean of precision and recall"),
    "false_alarm": Metric("detection", "lower", "share of the clean trajectories that are flagged"),
    "accuracy": Metric("detection", "higher", "share of the trajectories on which the verdict is right"),
    "roc_auc": Metric("detection", "higher", "probability that a faulty trajectory scores above a clean one"),
    "average_precision": Metric("detection", "higher", "precision averaged over the faulty trajectories, by score"),
}


def _f1(sums: FloatArray) -> FloatArray:
    """Return F1 from the sums of hits, flagged and faulty."""
    return divide(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def detection(items: Items, answers: Answers) -> dict[str, Statistic]:
    """Return the statistics of `METRICS`, in that order."""
    counted = answers.counted
    faulty, clean, flagged = items.faulty & counted, ~items.faulty & counted, answers.flagged & counted
    hits = faulty & flagged
    return {
        "base_rate": rate(faulty, counted, "no trajectory was counted", fixed=True),
        "flag_rate": rate(flagged, counted, "no trajectory was counted"),
        "precision": rate(hits, flagged, "no trajectory was flagged"),
        "recall": rate(flagged, faulty, "no faulty trajectory"),
        "silent_recall": rate(flagged, faulty & (items.stratum == "silent"), "no fault is known to be silent"),
        "loud_recall": rate(flagged, faulty & (items.stratum == "loud"), "no fault is known to be loud"),
        "blind_spot": _blind_spot(items, faulty, hits),
        "f1": Statistic((hits, flagged, faulty), _f1, faulty | flagged, "no trajectory is faulty or flagged"),
        "false_alarm": rate(flagged, clean, "no clean trajectory"),
        "accuracy": rate(flagged == items.faulty, counted, "no trajectory was counted"),
        **_by_score(items, answers),
    }


def _blind_spot(items: Items, faulty: BoolArray, hits: BoolArray) -> Statistic:
    silent, loud = faulty & (items.stratum == "silent"), faulty & (items.stratum == "loud")
    columns = (hits & loud, loud, hits & silent, silent)
    return Statistic(columns, _gap, silent | loud, "needs silent and loud faults", unit=False)


def _gap(sums: FloatArray) -> FloatArray:
    """Return the rate of the first two columns less that of the last two."""
    return divide(sums[..., 0], sums[..., 1]) - divide(sums[..., 2], sums[..., 3])


def _by_score(items: Items, answers: Answers) -> dict[str, Statistic]:
    counted = answers.counted
    unscored, classes = int(np.isnan(answers.score[counted]).sum()), np.unique(items.faulty[counted])
    if unscored or len(classes) < 2:
        reason = "only one class among the labels: there is no order to get right"
        if unscored:
            reason = f"{unscored} of {int(counted.sum())} verdicts state neither score nor confidence"
        return {name: undefined(len(counted), reason) for name in ("roc_auc", "average_precision")}
    return ranking(answers.score, items.faulty, counted)


def recall_by_type(items: Items, answers: Answers) -> dict[str, Statistic]:
    """Return the recall of each gold fault type, whatever type the auditor named."""
    faulty = items.faulty & answers.counted
    return {
        name: rate(answers.flagged, faulty & (items.type == name), f"no {name} trajectory was counted")
        for name in items.types
    }
