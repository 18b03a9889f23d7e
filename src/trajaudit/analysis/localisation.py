"""Does the auditor name the step? Exact, within one, and jointly with detection, beside what no insight would score.

Steps are integers and compared as integers. The denominators differ and change the numbers: ``step_exact`` is over the
faulty trajectories that were flagged with a step (testbed paper, section 5), so an auditor that names a step only when
it is sure looks better; ``step_joint`` is over all faulty ones and cannot be improved by silence. Where several faults
are labelled the earliest is gold; ``step_exact_any`` accepts any of them. The four baselines are taken over the very
trajectories of ``step_exact``, so that they can be read beside it.
"""

from __future__ import annotations

import numpy as np

from trajaudit.analysis.statistic import BoolArray, IntArray, Metric, Statistic, mean, rate, undefined
from trajaudit.analysis.table import Answers, Items

METRICS = {
    "step_exact": Metric(
        "localisation", "higher", "share of the faulty, flagged with a step, whose step is the gold one"
    ),
    "step_within_one": Metric("localisation", "higher", "the same, one step off allowed"),
    "step_exact_any": Metric("localisation", "higher", "the same as step_exact, any labelled fault's step accepted"),
    "step_joint": Metric("localisation", "higher", "share of all faulty that are flagged at exactly the gold step"),
    "step_first": Metric(
        "localisation", "none", "step_exact of always naming the first step, on the same trajectories"
    ),
    "step_last": Metric("localisation", "none", "step_exact of always naming the last step, on the same trajectories"),
    "step_uniform": Metric(
        "localisation", "none", "step_exact expected of a step drawn evenly, on the same trajectories"
    ),
    "step_prior": Metric("localisation", "none", "step_exact of the most frequent gold step of the other groups"),
}


def localisation(items: Items, answers: Answers) -> dict[str, Statistic]:
    """Return the statistics of `METRICS`, in that order."""
    located = items.faulty & answers.counted & (items.step >= 0)
    named = located & answers.flagged & (answers.step >= 0)
    exact = answers.step == items.step
    why = "no faulty trajectory was flagged with a step"
    return {
        "step_exact": rate(exact, named, why),
        "step_within_one": rate(np.abs(answers.step - items.step) <= 1, named, why),
        "step_exact_any": rate(_any_fault(items, answers), named, why),
        "step_joint": _joint(exact & answers.flagged, located, answers),
        "step_first": rate(items.step == 0, named, why),
        "step_last": rate(items.step == items.length - 1, named, why),
        "step_uniform": mean(1 / items.length, named, why, unit=True),
        "step_prior": rate(position_prior(items) == items.step, named, why),
    }


def _joint(hits: BoolArray, located: BoolArray, answers: Answers) -> Statistic:
    """Return ``step_joint``. An auditor that never names a step was not asked for one: no failure to find."""
    if not (answers.step[answers.counted] >= 0).any():
        return undefined(len(hits), "the auditor names no step")
    return rate(hits, located, "no faulty trajectory with a known step")


def _any_fault(items: Items, answers: Answers) -> BoolArray:
    pairs = zip(answers.step.tolist(), items.fault_steps, strict=True)
    return np.array([step in steps for step, steps in pairs], dtype=np.bool_)


def position_prior(items: Items) -> IntArray:
    """Return for each trajectory the most frequent gold step of the faulty ones in *other* groups, [n].

    Leaving the own group out keeps the baseline from reading the answer off a sibling. The earliest step wins a tie;
    -1 where no other group has a located fault.
    """
    _, group = np.unique(np.array(items.groups), return_inverse=True)
    located = items.step >= 0
    counts = np.zeros((int(group.max()) + 1, int(items.step.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (group[located], items.step[located]), 1)
    others = counts.sum(axis=0) - counts
    return np.where(others.any(axis=1), others.argmax(axis=1), -1)[group]
