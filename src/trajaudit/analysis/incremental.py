"""What each flag adds beside the others: a logistic model of the label with all flags, and one without each.

The likelihood ratio of the two is the textbook answer, and it takes runs as independent. Runs of one scenario are not,
so beside it stands the Wald test of the same coefficient with an error that is robust to clusters, on a t distribution
with one degree of freedom less than there are clusters; Holm's correction is over the Wald tests. That error needs more
clusters than the model has coefficients, and with a few more it is still too small. Where the flags separate the
classes, or one follows from the others, a coefficient has no finite estimate and nothing is reported but that.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2
from scipy.stats import t as student

from trajaudit.analysis.curves import ranking
from trajaudit.analysis.paired import holm
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.signals import FlaggedRuns
from trajaudit.analysis.statistic import FloatArray

STEEP = 15.0
"""A log odds ratio beyond this is no estimate but a sign of separation."""


@dataclass(frozen=True)
class Increment:
    """One flag beside all others.

    ``log_odds`` is its coefficient with the cluster-robust interval; ``ratio`` twice the gain in log likelihood, with
    ``p_ratio`` over runs taken as independent; ``p_wald`` is robust, ``p_holm`` adjusted over the flags. ``auc_gain``
    is what the AUC of the whole model loses without the flag, on the runs that it was fitted to.
    """

    flag: str
    log_odds: Estimate
    ratio: float | None = None
    p_ratio: float | None = None
    p_wald: float | None = None
    p_holm: float | None = None
    auc_gain: float | None = None


def incremental(runs: FlaggedRuns, level: float = 0.95) -> list[Increment]:
    """Return what each flag adds to the others, in the order of the flags."""
    _, number = np.unique(np.array(runs.groups), return_inverse=True)
    flags = runs.present.astype(float)
    usable = [column.any() and not column.all() for column in runs.present.T]
    reason = _unfit(flags[:, usable], runs)
    whole = None if reason else _fitted(flags[:, usable], runs, number)
    if whole is None:
        reason = reason or "the model has no finite estimate: the flags separate the classes, or nothing varies"
        return [Increment(name, Estimate(None, n=len(flags), reason=reason, level=level)) for name in runs.flags]
    rows, place = [], 0
    for i, name in enumerate(runs.flags):
        if not usable[i]:
            rows.append(Increment(name, Estimate(None, n=len(flags), reason="the flag never varies", level=level)))
            continue
        place += 1
        others = [usable[j] and j != i for j in range(len(usable))]
        rows.append(_increment(name, place, whole, _fitted(flags[:, others], runs, number), runs, level))
    return [replace(row, p_holm=p) for row, p in zip(rows, holm([row.p_wald for row in rows]), strict=True)]


def _unfit(flags: FloatArray, runs: FlaggedRuns) -> str | None:
    """Return why no model of the label can be fitted to flags [n, k] that vary, null where one can be tried."""
    groups, coefficients = len(set(runs.groups)), flags.shape[1] + 1
    if coefficients == 1 or runs.faulty.all() or not runs.faulty.any():
        return "the label never varies, or no flag does"
    if np.linalg.matrix_rank(np.column_stack([np.ones(len(flags)), flags])) < coefficients:
        return "a flag follows from the others"
    if groups <= coefficients:
        return f"the {coefficients} coefficients of the model need more than {groups} groups"
    return None


def _increment(name: str, place: int, whole: Any, without: Any, runs: FlaggedRuns, level: float) -> Increment:
    clusters = len(set(runs.groups))
    coefficient, error = float(whole.params[place]), float(whole.bse[place])
    half = float(student.ppf((1 + level) / 2, clusters - 1)) * error
    odds = Estimate(
        coefficient, coefficient - half, coefficient + half, len(runs.faulty), "cluster-robust Wald", level=level
    )
    p_wald = float(2 * student.sf(abs(coefficient) / error, clusters - 1))
    if without is None:
        return Increment(name, odds, p_wald=p_wald)
    ratio = max(0.0, 2 * float(whole.llf - without.llf))
    gain = _area(whole.predict(), runs) - _area(without.predict(), runs)
    return Increment(name, odds, ratio, float(chi2.sf(ratio, 1)), p_wald, auc_gain=gain)


def _fitted(flags: FloatArray, runs: FlaggedRuns, number: np.ndarray) -> Any:
    """Return the fitted model, or nothing where it has no finite estimate."""
    import statsmodels.api as sm

    design = np.column_stack([np.ones(len(flags)), flags])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separation and non-convergence are asked of the result
        try:
            result = sm.Logit(runs.faulty.astype(float), design).fit(
                disp=0, maxiter=200, cov_type="cluster", cov_kwds={"groups": number}
            )
        except np.linalg.LinAlgError:
            return None
    finite = np.isfinite(result.bse).all() and np.abs(result.params).max() < STEEP
    return result if result.mle_retvals["converged"] and finite else None


def _area(score: FloatArray, runs: FlaggedRuns) -> float:
    everyone = np.ones(len(runs.faulty), dtype=np.bool_)
    value = ranking(np.round(score, 12), runs.faulty, everyone)["roc_auc"].value
    assert value is not None
    return value
