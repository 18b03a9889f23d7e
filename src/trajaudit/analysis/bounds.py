"""How far could the missing answers move a metric? Worst and best cases in place of verdicts without an opinion.

Leaving failures out flatters an auditor that fails on what is hard. So beside every estimate that leaves them out
stands what it would have been had each failure been answered in the worst way, and in the best: three fillings are
scored (all right; all wrong; all flagged with step and type wrong), and between them the metrics of `BOUNDED` reach
their extremes. For those not listed (calibration error, macro-F1) the extreme filling depends on the other answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trajaudit.analysis.metrics import statistics
from trajaudit.analysis.statistic import BoolArray, IntArray, TextArray
from trajaudit.analysis.table import Answers, Items

BOUNDED = (
    *("precision", "recall", "silent_recall", "loud_recall", "f1", "false_alarm", "accuracy", "roc_auc"),
    *("average_precision", "brier", "step_exact", "step_within_one", "step_joint", "type_joint"),
)
_FAR = 10**6
"""A step that is right nowhere, nor within one of right."""


def worst_cases(items: Items, answers: Answers) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest value of each metric in `BOUNDED` over all answers that the failures could give.

    Empty where nothing failed. ``answers`` must hold raw verdicts, or those under the ``answered`` convention.
    """
    if (answers.status == "ok").all():
        return {}
    scored = [statistics(items, filled) for filled in _fillings(items, answers)]
    values = {name: [s[name].value for s in scored] for name in BOUNDED}
    known = {name: [v for v in of if v is not None] for name, of in values.items()}
    return {name: (min(of), max(of)) for name, of in known.items() if of}


def _fillings(items: Items, answers: Answers) -> tuple[Answers, Answers, Answers]:
    failed = answers.status != "ok"

    def filled(flagged: BoolArray, step: IntArray | int, kind: TextArray | str) -> Answers:
        return replace(
            answers,
            counted=np.ones(len(failed), dtype=np.bool_),
            flagged=np.where(failed, flagged, answers.flagged),
            score=np.where(failed, flagged.astype(float), answers.score),
            confidence=np.where(failed, 1.0, answers.confidence),
            step=np.where(failed, step, answers.step),
            type=np.where(failed, kind, answers.type),
        )

    everything = np.ones(len(failed), dtype=np.bool_)
    return filled(items.faulty, items.step, items.type), filled(~items.faulty, -1, ""), filled(everything, _FAR, "")
