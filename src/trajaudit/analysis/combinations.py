"""Weighted sums of metrics over the same trajectories: a mean over draws, a gain, an interaction contrast.

A contrast is decided by its weights alone, so they can be declared before anything is measured. All statistics are
resampled with one set of weights of clusters, so whatever they have in common cancels. What is resampled is
trajectories: where trainings are averaged the interval speaks of new runs, not of new trainings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trajaudit.analysis.differences import inverted
from trajaudit.analysis.intervals import MOSTLY_DEFINED, estimate, no_spread, percentile
from trajaudit.analysis.resampling import Design, replicates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import Statistic

Weights = Mapping[str, float]
"""The weight of each statistic by its name; those that are not named weigh nothing."""


@dataclass(frozen=True)
class Combined:
    """A weighted sum with its interval, its standard error and the p value against 0, all of the paired bootstrap."""

    estimate: Estimate
    error: float | None = None
    p_value: float | None = None


def mean_of(names: Sequence[str]) -> dict[str, float]:
    """Return the weights of a mean.

    >>> mean_of(["a", "b"])
    {'a': 0.5, 'b': 0.5}
    """
    return {name: 1 / len(names) for name in names}


def scaled(weights: Weights, factor: float) -> dict[str, float]:
    """Return every weight times a factor.

    >>> scaled({"a": 0.5}, -2)
    {'a': -1.0}
    """
    return {name: factor * weight for name, weight in weights.items()}


def added(*parts: Weights) -> dict[str, float]:
    """Return the sum of weights.

    >>> added(mean_of(["a"]), scaled(mean_of(["a", "b"]), -1))
    {'a': 0.5, 'b': -0.5}
    """
    out: dict[str, float] = {}
    for part in parts:
        for name, weight in part.items():
            out[name] = out.get(name, 0.0) + weight
    return out


def combined(
    plan: Design,
    statistics: Mapping[str, Statistic],
    wanted: Sequence[Weights],
    *,
    resamples: int,
    seed: int = 0,
    level: float = 0.95,
) -> list[Combined]:
    """Return each weighted sum of ``statistics``; undefined where one that it weighs is, for its reason.

    Raises:
        ValueError: a weight names no statistic.
    """
    names = list(statistics)
    if unknown := {name for one in wanted for name in one} - set(names):
        raise ValueError(f"weights: no statistic {min(unknown)!r}")
    values = [statistics[name].value for name in names]
    drawn = replicates(plan, list(statistics.values()), resamples, seed)
    rows = []
    for weights in wanted:
        at = [i for i, name in enumerate(names) if weights.get(name)]
        among = np.logical_or.reduce([statistics[names[i]].among for i in at])
        lacking = next((statistics[names[i]].reason for i in at if values[i] is None), None)
        if lacking is not None:
            rows.append(Combined(Estimate(None, n=int(among.sum()), reason=lacking, level=level)))
            continue
        if len(at) == 1 and weights[names[at[0]]] == 1:  # nothing is summed: an interval at 0 or 1 has a width, too
            alone = statistics[names[at[0]]]
            rows.append(_alone(estimate(plan, alone, drawn[at[0]], level), drawn[at[0]]))
            continue
        factor = np.array([weights[names[i]] for i in at])
        value = float(factor @ np.array([values[i] for i in at], dtype=np.float64))
        rows.append(_estimated(value, factor @ drawn[at], int(among.sum()), level))
    return rows


def _alone(told: Estimate, drawn: np.ndarray) -> Combined:
    defined = drawn[~np.isnan(drawn)]
    moved = told.low is not None and not no_spread(defined)
    return Combined(told, *((float(defined.std(ddof=1)), inverted(defined)) if moved else (None, None)))


def _estimated(value: float, drawn: np.ndarray, n: int, level: float) -> Combined:
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MOSTLY_DEFINED * len(drawn):
        return Combined(Estimate(value, n=n, reason="no interval: undefined in too many resamples", level=level))
    if no_spread(defined):
        return Combined(Estimate(value, n=n, reason="no interval: the same in every resample", level=level))
    told = Estimate(value, *percentile(defined, level), n, "percentile", level=level)
    return Combined(told, float(defined.std(ddof=1)), inverted(defined))
