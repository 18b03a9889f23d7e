"""Does doubt foretell error? The signs of uncertainty that verdicts carry, as predictors of being wrong.

Each sign (token entropy, semantic entropy, a panel's disagreement …) ranks an auditor's own verdicts by how unsure it
was; the ROC area says how likely a wrong verdict ranks above a right one. 0.5 is a sign that knows nothing; below it,
the auditor is surest where it errs. The stated confidence stands in the same table, turned round, because a measured
sign earns its cost only where it beats what the judge says of itself for nothing. Only runs with a label and a verdict
that carries the sign are counted. The p value is the bootstrap's, against 0.5, with Holm over all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.curves import ranking
from trajaudit.analysis.differences import Resampling, inverted
from trajaudit.analysis.intervals import MOSTLY_DEFINED, RESAMPLES, no_spread
from trajaudit.analysis.paired import holm
from trajaudit.analysis.resampling import replicates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import Statistic, undefined
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict, by_auditor

FEW_GROUPS = 10
"""With fewer groups than this, resamples are too alike to test anything with: two groups gave p < 0.001 by chance."""
STATED = "stated doubt"
"""One less the confidence that the auditor states."""


@dataclass(frozen=True)
class Foretelling:
    """How well one sign of one auditor tells its wrong verdicts from its right ones, over ``n`` verdicts."""

    auditor: str
    sign: str
    n: int
    wrong: int
    auc: Estimate
    p_value: float | None
    p_holm: float | None = None


def failure_prediction(
    trajectories: Iterable[Trajectory],
    verdicts: Iterable[Verdict],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> list[Foretelling]:
    """Return a row for each sign of each auditor that carries any; empty where no verdict does."""
    runs = {run.id: run for run in trajectories if run.label is not None}
    rows = []
    for auditor, own in by_auditor(verdicts).items():
        answered = [verdict for verdict in own if verdict.ok and verdict.trajectory_id in runs]
        signs = list(dict.fromkeys(name for verdict in answered for name in verdict.uncertainty))
        for sign in [*signs, STATED] if signs else []:
            carrying = [verdict for verdict in answered if _value(verdict, sign) is not None]
            if not carrying:
                continue
            how = Resampling(clustered([runs[v.trajectory_id].group for v in carrying]), resamples, seed, level, method)
            rows.append(_row(auditor, sign, carrying, runs, how))
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _value(verdict: Verdict, sign: str) -> float | None:
    if sign != STATED:
        return verdict.uncertainty.get(sign)
    return None if verdict.confidence is None else 1 - verdict.confidence


def _row(
    auditor: str, sign: str, verdicts: Sequence[Verdict], runs: dict[str, Trajectory], how: Resampling
) -> Foretelling:
    labels = [runs[verdict.trajectory_id].label for verdict in verdicts]
    pairs = zip(verdicts, labels, strict=True)
    wrong = np.array([label is not None and verdict.faulty != label.faulty for verdict, label in pairs], dtype=np.bool_)
    doubt = np.array([_value(verdict, sign) for verdict in verdicts], dtype=np.float64)
    n, among = len(verdicts), np.ones(len(verdicts), dtype=np.bool_)
    if not wrong.any() or wrong.all():
        reason = f"{'all' if wrong.all() else 'none'} of {n} verdicts are wrong: there is nothing to tell apart"
        statistic: Statistic = undefined(n, reason)
    else:
        statistic = ranking(doubt, wrong, among)["roc_auc"]
    (auc,) = how.estimates([statistic])
    return Foretelling(auditor, sign, n, int(wrong.sum()), auc, _p_value(statistic, how))


def _p_value(statistic: Statistic, how: Resampling) -> float | None:
    """Return the two-sided p value against an area of 0.5; null where resamples have too little to say."""
    if statistic.value is None or how.plan.clusters < FEW_GROUPS:
        return None
    (drawn,) = replicates(how.plan, [statistic], how.resamples, how.seed)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MOSTLY_DEFINED * len(drawn) or no_spread(defined):
        return None
    return inverted(defined - 0.5)
