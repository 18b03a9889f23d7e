"""How far a judge agrees with itself: the same runs judged again, each as often as it happened to be.

Runs were judged between two and dozens of times, so agreement is first taken over the pairs of judgments of one run and
then over runs, each run counting once: otherwise the few that were judged most would be all that is measured. Kappa is
Fleiss's (1971) with that weighting, which is Scott's pi where every run was judged twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajaudit.analysis.statistic import FloatArray, Statistic, divide, mean


def self_agreement(said: Sequence[Sequence[bool]]) -> tuple[Statistic, Statistic]:
    """Return agreement and kappa of repeated yes-or-no judgments, one sequence a run.

    Raises:
        ValueError: a run was judged fewer than two times.

    >>> agreement, kappa = self_agreement([(True, True), (False, False), (True, False), (False, False)])
    >>> agreement.value, round(kappa.value, 3)
    (0.75, 0.467)
    """
    times = np.array([len(of_run) for of_run in said])
    if (times < 2).any():
        raise ValueError("judgments: expected at least two of every run")
    yes = np.array([sum(of_run) for of_run in said])
    no = times - yes
    agreeing = (yes * (yes - 1) + no * (no - 1)) / (times * (times - 1))
    everyone = np.ones(len(said), dtype=np.bool_)
    agreement = mean(agreeing, everyone, "no run was judged twice", unit=True)
    reason = "every judgment says the same: chance explains all" if len(said) else "no run was judged twice"
    return agreement, Statistic((agreeing, yes / times, everyone), _fleiss, everyone, reason, unit=False)


def _fleiss(sums: FloatArray) -> FloatArray:
    """Return kappa from the sums of agreement, of the share of yes, and the count."""
    observed, yes = divide(sums[..., 0], sums[..., 2]), divide(sums[..., 1], sums[..., 2])
    expected = yes**2 + (1 - yes) ** 2
    return divide(observed - expected, 1 - expected)
