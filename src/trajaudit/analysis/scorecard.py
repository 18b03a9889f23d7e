"""Everything measured of each auditor on one labelled set: metrics, curves, confusion, and who was counted.

All auditors are scored on the same trajectories and the same resamples, so their intervals can be laid side by side
and differences are paired (`trajaudit.analysis.comparison`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from trajaudit.analysis.bounds import worst_cases
from trajaudit.analysis.calibration import EDGES, reliability_bins
from trajaudit.analysis.curves import risk_coverage
from trajaudit.analysis.detection import recall_by_type
from trajaudit.analysis.fault_types import confusion
from trajaudit.analysis.intervals import RESAMPLES, estimates
from trajaudit.analysis.metrics import statistics
from trajaudit.analysis.resampling import design
from trajaudit.analysis.result import Bin, Estimate, Scorecard
from trajaudit.analysis.statistic import Statistic
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
    sheets = [_Sheet.of(items, own, counted.get(reference)) for own in counted.values()]
    wanted = [statistic for sheet in sheets for statistic in sheet.statistics]
    ready = iter(estimates(design(items), wanted, resamples, seed, level, method))
    return [sheet.card(items, ready, convention) for sheet in sheets]


@dataclass(frozen=True, eq=False)
class _Sheet:
    """All statistics of one auditor, in the order in which their estimates are read back."""

    answers: Answers
    metrics: dict[str, Statistic]
    by_type: dict[str, Statistic]
    bins: list[tuple[Statistic, float | None]]

    @classmethod
    def of(cls, items: Items, answers: Answers, reference: Answers | None) -> _Sheet:
        metrics = statistics(items, answers, reference)
        return cls(answers, metrics, recall_by_type(items, answers), reliability_bins(items, answers))

    @property
    def statistics(self) -> list[Statistic]:
        return [*self.metrics.values(), *self.by_type.values(), *(accuracy for accuracy, _ in self.bins)]

    def card(self, items: Items, ready: Iterator[Estimate], convention: str) -> Scorecard:
        """Return the scorecard, taking one estimate from ``ready`` for each statistic."""
        metrics, by_type = ({name: next(ready) for name in named} for named in (self.metrics, self.by_type))
        bins = [(next(ready), confidence) for _, confidence in self.bins]
        return Scorecard(
            auditor=self.answers.auditor,
            convention=convention,
            metrics=metrics,
            per_type_recall=by_type,
            confusion=confusion(items, self.answers),
            reliability=tuple(
                Bin(float(low), float(high), accuracy.n, confidence, accuracy)
                for low, high, (accuracy, confidence) in zip(EDGES, EDGES[1:], bins, strict=False)
            ),
            risk_coverage=_curve(items, self.answers),
            denominator=self.answers.denominator,
            bounds=worst_cases(items, self.answers) if convention == "answered" else {},
        )


def _curve(items: Items, answers: Answers) -> tuple[tuple[float, float], ...]:
    stated = answers.counted & ~np.isnan(answers.confidence)
    points = risk_coverage(answers.confidence, answers.flagged != items.faulty, stated)
    return tuple((float(coverage), float(risk)) for coverage, risk in points)
