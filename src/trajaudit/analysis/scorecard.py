"""Everything measured of each auditor on one labelled set: metrics, curves, confusion, and who was counted.

All auditors are scored on the same trajectories and the same resamples, so their intervals can be laid side by side
and differences are paired (`trajaudit.analysis.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

import numpy as np

from trajaudit.analysis.bounds import worst_cases
from trajaudit.analysis.calibration import EDGES, reliability_bins
from trajaudit.analysis.curves import risk_coverage
from trajaudit.analysis.detection import recall_by_type
from trajaudit.analysis.fault_types import confusion
from trajaudit.analysis.intervals import RESAMPLES, estimates
from trajaudit.analysis.metrics import statistics
from trajaudit.analysis.resampling import design
from trajaudit.analysis.result import Bin, Scorecard
from trajaudit.analysis.table import Answers, Items, tabulate, under
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict


def scorecards(
    trajectories: Iterable[Trajectory],
    verdicts: Iterable[Verdict],
    *,
    convention: str = "published",
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    reference: str = "rules",
) -> list[Scorecard]:
    """Score every auditor that has verdicts, in order of first appearance.

    Args:
        trajectories: the labelled set; every trajectory in it counts as asked of every auditor.
        verdicts: at most one for each auditor and trajectory.
        convention: how a verdict without an opinion counts, ``published`` or ``answered``.
        method: of the intervals, ``percentile`` or ``bca``.
        reference: the auditor that ``seconds_ratio`` is relative to.

    Raises:
        ValueError: for unlabelled trajectories, stray or doubled verdicts, or an unknown convention or method.
    """
    items, answers = tabulate(trajectories, verdicts)
    return score(
        items,
        answers,
        convention=convention,
        resamples=resamples,
        seed=seed,
        level=level,
        method=method,
        reference=reference,
    )


def score(
    items: Items,
    answers: Mapping[str, Answers],
    *,
    convention: str = "published",
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    reference: str = "rules",
) -> list[Scorecard]:
    """Score every auditor of a table (`trajaudit.analysis.table.tabulate`); arguments as for `scorecards`."""
    counted = {name: under(own, convention) for name, own in answers.items()}
    metrics = {name: statistics(items, own, counted.get(reference)) for name, own in counted.items()}
    by_type = {name: recall_by_type(items, own) for name, own in counted.items()}
    bins = {name: reliability_bins(items, own) for name, own in counted.items()}
    wanted = [
        statistic
        for name in counted
        for statistic in (*metrics[name].values(), *by_type[name].values(), *(accuracy for accuracy, _ in bins[name]))
    ]
    ready = iter(estimates(design(items), wanted, resamples, seed, level, method))
    cards = []
    for name, own in counted.items():
        metric = dict(zip(metrics[name], islice(ready, len(metrics[name])), strict=True))
        recall = dict(zip(by_type[name], islice(ready, len(by_type[name])), strict=True))
        accuracy = list(islice(ready, len(bins[name])))
        reliability = tuple(
            Bin(float(EDGES[i]), float(EDGES[i + 1]), accuracy[i].n, confidence, accuracy[i])
            for i, (_, confidence) in enumerate(bins[name])
        )
        bounds = worst_cases(items, own) if convention == "answered" else {}
        cards.append(
            Scorecard(
                name,
                convention,
                metric,
                recall,
                confusion(items, own),
                reliability,
                _curve(items, own),
                own.denominator,
                bounds,
            )
        )
    return cards


def _curve(items: Items, answers: Answers) -> tuple[tuple[float, float], ...]:
    stated = answers.counted & ~np.isnan(answers.confidence)
    points = risk_coverage(answers.confidence, answers.flagged != items.faulty, stated)
    return tuple((float(coverage), float(risk)) for coverage, risk in points)
