"""Does the auditor name the right type of fault? Macro-F1, confusion, and type jointly with detection.

Defined as the testbed paper's results are: over genuinely faulty trajectories only; a missed fault is a miss of its
true type, a flag without a type counts as missed; every type that is gold somewhere enters the mean, with 0 if it is
never named right. Of a verdict that lists several types the first counts. So a false alarm costs nothing here (it does
in precision), and a type that is no gold type of the set costs the true type a miss.
"""

from __future__ import annotations

import numpy as np

from trajaudit.analysis.statistic import FloatArray, Metric, Statistic, divide, rate
from trajaudit.analysis.table import Answers, Items, ordered_types

MISSED = "missed"
METRICS = {
    "type_macro_f1": Metric("typing", "higher", "F1 of each gold type over the faulty trajectories, averaged"),
    "type_joint": Metric("typing", "higher", "share of all faulty trajectories that are flagged with the gold type"),
}


def _macro_f1(sums: FloatArray) -> FloatArray:
    """Return the mean of 2 hits / (gold + named) over types with a gold item; sums [..., 3 T] hold hits, gold, named.

    A type that nobody counted has (in a resample: one that was not drawn) has no F1, and is no zero in the mean.
    """
    types = sums.shape[-1] // 3
    gold = sums[..., types : 2 * types]
    each = np.nan_to_num(divide(2 * sums[..., :types], gold + sums[..., 2 * types :]))
    return divide(np.where(gold > 0, each, 0.0).sum(axis=-1), (gold > 0).sum(axis=-1).astype(np.float64))


def fault_types(items: Items, answers: Answers) -> dict[str, Statistic]:
    """Return the statistics of `METRICS`, in that order."""
    typed = items.faulty & answers.counted & (items.type != "")
    named = np.where(answers.flagged, answers.type, "")
    gold = [typed & (items.type == name) for name in items.types]
    said = [typed & (named == name) for name in items.types]
    hits = [a & b for a, b in zip(gold, said, strict=True)]
    why = "no faulty trajectory with a known type"
    return {
        "type_macro_f1": Statistic((*hits, *gold, *said), _macro_f1, typed, why),
        "type_joint": rate(named == items.type, typed, why),
    }


def confusion(items: Items, answers: Answers) -> dict[str, dict[str, int]]:
    """Return how often each gold type (row) was named as each type, or missed (column)."""
    typed = items.faulty & answers.counted & (items.type != "")
    named = np.where(answers.flagged & (answers.type != ""), answers.type, MISSED)
    extra = [name for name in ordered_types(named[typed]) if name not in (*items.types, MISSED)]
    return {
        row: {column: int((typed & (items.type == row) & (named == column)).sum()) for column in columns}
        for row in items.types
        for columns in [(*items.types, *extra, MISSED)]
    }
