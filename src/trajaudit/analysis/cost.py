"""What does a verdict cost? Means a trajectory of calls, tokens, seconds and money, and seconds against a reference.

Taken over every verdict that was asked for, usable or not, under both conventions: a reply that could not be parsed
was paid for too. One unknown price or token count makes the mean unknown (null), never smaller. Seconds are each
verdict's own, so they depend on the machine and its load; their ratio to a reference auditor on the same machine (the
rule engine, testbed paper section 5) depends on it less.
"""

from __future__ import annotations

import numpy as np

from trajaudit.analysis.statistic import Metric, Statistic, mean, quotient, undefined
from trajaudit.analysis.table import COSTS, Answers

METRICS = {
    "calls": Metric("cost", "lower", "model calls a trajectory"),
    "prompt_tokens": Metric("cost", "lower", "prompt tokens a trajectory"),
    "completion_tokens": Metric("cost", "lower", "completion tokens a trajectory"),
    "seconds": Metric("cost", "lower", "seconds a trajectory"),
    "usd": Metric("cost", "lower", "US dollars a trajectory"),
    "seconds_ratio": Metric("cost", "lower", "seconds a trajectory over those of the reference auditor"),
}


def cost(answers: Answers, reference: Answers | None) -> dict[str, Statistic]:
    """Return the statistics of `METRICS`, in that order."""
    return {**{name: _mean_cost(answers, name) for name in COSTS}, "seconds_ratio": _ratio(answers, reference)}


def _mean_cost(answers: Answers, name: str) -> Statistic:
    ran = answers.status != "not_run"
    unknown = int(np.isnan(answers.cost[name][ran]).sum())
    if unknown:
        return undefined(len(ran), f"unknown for {unknown} of {int(ran.sum())} verdicts")
    return mean(answers.cost[name], ran, "no verdict was asked for")


def _ratio(answers: Answers, reference: Answers | None) -> Statistic:
    n = len(answers.status)
    if reference is None:
        return undefined(n, "the reference auditor has no verdicts here")
    both = (answers.status != "not_run") & (reference.status != "not_run")
    own, theirs = answers.cost["seconds"], reference.cost["seconds"]
    if np.isnan(own[both]).any() or np.isnan(theirs[both]).any():
        return undefined(n, "seconds are not known for every verdict of the auditor and the reference")
    columns = (np.where(both, own, 0.0), np.where(both, theirs, 0.0))
    return Statistic(columns, quotient, both, "the reference auditor took no time", unit=False)
