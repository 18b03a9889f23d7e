"""The shapes that the analysis returns and the reports print: an estimate, a scorecard, a comparison.

An undefined value is ``None`` with its reason, never 0; an interval and its estimate come from one computation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CONVENTIONS = ("published", "answered")
"""How a verdict without an opinion counts: ``published`` votes clean at confidence 0.5 (testbed paper, section 4);
``answered`` leaves it out, with worst-case bounds beside the estimate."""


@dataclass(frozen=True)
class Estimate:
    """A value with its interval: ``n`` items in the denominator, ``method`` names how the interval was made."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    reason: str | None = None
    level: float = 0.95


@dataclass(frozen=True)
class Denominator:
    """Who is counted: items attempted, answered with an opinion, failed by status, and read only in part."""

    attempted: int
    answered: int
    failed: Mapping[str, int] = field(default_factory=dict)
    truncated: int = 0


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability curve on (low, high]; ``confidence`` is the mean in the bin."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: Estimate


@dataclass(frozen=True)
class Scorecard:
    """Everything measured of one auditor on one set, under one convention.

    ``metrics`` is keyed by the names in ``trajaudit.analysis.METRICS``; ``per_type_recall`` and the rows of
    ``confusion`` by true type; a row of ``confusion`` by predicted type, and ``missed``. ``bounds`` holds, for metrics
    that failures could move, the lowest and highest value that any answers in their place could have given.
    """

    auditor: str
    convention: str
    metrics: Mapping[str, Estimate]
    per_type_recall: Mapping[str, Estimate]
    confusion: Mapping[str, Mapping[str, int]]
    reliability: tuple[Bin, ...]
    risk_coverage: tuple[tuple[float, float], ...]
    denominator: Denominator
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """A paired comparison of two auditors on one metric over the same items.

    ``difference`` is a minus b; ``p_holm`` is adjusted over ``family``, the declared set of comparisons; ``mde`` is the
    smallest true difference that this many items would detect with 80 % power at the family's level.
    """

    metric: str
    a: str
    b: str
    difference: Estimate
    test: str
    p_value: float | None
    p_holm: float | None = None
    mde: float | None = None
    family: str = ""
    reason: str | None = None
