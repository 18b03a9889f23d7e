"""Do rates differ between groups when the same clusters were seen by all? Marginal logistic models, Holm over pairs.

Six models answered the same questions, so their rates are paired by question, and a hard question is hard for all:
a chi-squared test over runs takes that for chance. A logistic model fitted by generalised estimating equations (Liang
and Zeger 1986; statsmodels), with the question as cluster and an exchangeable working correlation, keeps the pairing
and has standard errors that hold whatever the correlation really is. With few clusters those are too small; the count
of clusters stands in the result so that it can be read.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from scipy.stats import chi2, norm

from trajaudit.analysis.paired import holm
from trajaudit.analysis.statistic import BoolArray, FloatArray


@dataclass(frozen=True)
class Pair:
    """The log odds ratio of group a against group b, with its p value and Holm's over all pairs."""

    a: str
    b: str
    log_odds_ratio: float
    p_value: float
    p_holm: float | None


@dataclass(frozen=True)
class RateDifferences:
    """Whether rates differ at all (a Wald test over all groups), and which pairs do."""

    rates: dict[str, float]
    clusters: int
    statistic: float
    p_value: float
    pairs: tuple[Pair, ...]


def rate_differences(hit: BoolArray, group: Sequence[str], cluster: Sequence[str]) -> RateDifferences:
    """Compare the rates of ``hit`` [n] between groups, items of one cluster being dependent.

    Raises:
        ValueError: fewer than two groups, or a group in which all or none are hits (its odds are then infinite).
    """
    names, columns = _groups(hit, group)
    coefficients, covariance = _fitted(hit, columns, cluster)
    contrast = np.hstack([np.full((len(names) - 1, 1), -1.0), np.eye(len(names) - 1)])
    difference = contrast @ coefficients
    statistic = float(difference @ np.linalg.solve(contrast @ covariance @ contrast.T, difference))
    raw = []
    for i, j in combinations(range(len(names)), 2):
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        ratio = float(coefficients[i] - coefficients[j])
        raw.append((names[i], names[j], ratio, float(2 * norm.sf(abs(ratio) / sqrt(variance)))))
    adjusted = holm([p for *_, p in raw])
    return RateDifferences(
        {name: float(hit[column > 0].mean()) for name, column in zip(names, columns.T, strict=True)},
        len(set(cluster)),
        statistic,
        float(chi2.sf(statistic, len(names) - 1)),
        tuple(Pair(*row, p) for row, p in zip(raw, adjusted, strict=True)),
    )


def _groups(hit: BoolArray, group: Sequence[str]) -> tuple[list[str], FloatArray]:
    """Return the groups' names and an indicator column for each, [n, groups]."""
    names = list(dict.fromkeys(group))
    if len(names) < 2:
        raise ValueError(f"group: expected at least two groups, got {names}")
    columns = np.array([[float(own == name) for name in names] for own in group])
    for name, column in zip(names, columns.T, strict=True):
        if hit[column > 0].mean() in (0.0, 1.0):
            raise ValueError(f"group {name!r}: all or none of its items are hits: its odds are infinite")
    return names, columns


def _fitted(hit: BoolArray, columns: FloatArray, cluster: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return the log odds of each group and their robust covariance."""
    import statsmodels.api as sm

    _, number = np.unique(np.array(cluster), return_inverse=True)
    order = np.argsort(number, kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the way; whether it converged is asked below
        model = sm.GEE(
            hit[order].astype(float),
            columns[order],
            groups=number[order],
            family=sm.families.Binomial(),
            cov_struct=sm.cov_struct.Exchangeable(),
        )
        result = model.fit(maxiter=200)
    if not result.converged:
        raise ValueError("the estimating equations did not converge")
    return np.asarray(result.params), np.asarray(result.cov_params())


def auc_against_chance(auc: float, positives: int, negatives: int, level: float = 0.95) -> tuple[float, float, float]:
    """Return low, high and the p value against 0.5 of a published AUC of which only the class sizes are known.

    The variance is Hanley and McNeil's (1982), which assumes exponential scores; the p value takes it under 0.5.

    >>> low, high, p = auc_against_chance(0.689, 14, 13)
    >>> round(low, 2), round(high, 2), round(p, 2)
    (0.49, 0.89, 0.1)
    """

    def error(value: float) -> float:
        q1, q2 = value / (2 - value), 2 * value**2 / (1 + value)
        top = value * (1 - value) + (positives - 1) * (q1 - value**2) + (negatives - 1) * (q2 - value**2)
        return sqrt(top / (positives * negatives))

    z = float(norm.ppf((1 + level) / 2))
    half = z * error(auc)
    return max(0.0, auc - half), min(1.0, auc + half), float(2 * norm.sf(abs(auc - 0.5) / error(0.5)))
