"""All metrics in one place: what each is called, what it means, and the statistics of one auditor."""

from __future__ import annotations

from collections.abc import Mapping

from trajaudit.analysis import calibration, cost, detection, fault_types, localisation
from trajaudit.analysis.statistic import Metric, Statistic
from trajaudit.analysis.table import Answers, Items

METRICS: Mapping[str, Metric] = {
    **detection.METRICS,
    **localisation.METRICS,
    **fault_types.METRICS,
    **calibration.METRICS,
    **cost.METRICS,
}
"""Every metric by the name that scorecards, comparisons and tables use."""


def statistics(items: Items, answers: Answers, reference: Answers | None = None) -> dict[str, Statistic]:
    """Return every metric of one auditor, keyed and ordered as `METRICS`; ``reference`` is what cost is relative to."""
    return {
        **detection.detection(items, answers),
        **localisation.localisation(items, answers),
        **fault_types.fault_types(items, answers),
        **calibration.calibration(items, answers),
        **cost.cost(answers, reference),
    }
