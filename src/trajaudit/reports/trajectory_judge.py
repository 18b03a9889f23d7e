"""The reproduction ledger of the testbed paper: every printed figure beside ours, and what the paper left open.

The paper prints point estimates only. Which of its comparisons are certain is decided here by paired differences over
the same trajectories, clustered by instance, with Holm's correction over one declared family: the claims that its
abstract makes. The family is fixed in ``CLAIMS`` before any interval is looked at; adding to it changes every adjusted
p-value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.ledger import Line, ledger_line
from trajaudit.trajectory import Trajectory

OUTCOME, STEP, SMALL = "outcome:qwen2.5:14b", "step:qwen2.5:14b", "step:llama3.1:8b"
VOTES, RULES = "selfcons3:qwen2.5:14b", "programmatic"

CLAIMS: tuple[tuple[str, str, str, str], ...] = (
    ("silent_recall", STEP, OUTCOME, "seeing the steps finds silent faults that the outcome hides"),
    ("loud_recall", STEP, OUTCOME, "seeing the steps finds more loud faults too"),
    ("false_alarm", STEP, OUTCOME, "seeing the steps removes false alarms"),
    ("silent_recall", STEP, RULES, "0.766 against 0.429: the step judge finds more silent faults than free rules"),
    ("loud_recall", STEP, RULES, "the step judge misses loud faults that free rules find"),
    ("f1", VOTES, STEP, "three votes are worse than one step judge"),
    ("silent_recall", VOTES, STEP, "three votes find fewer silent faults"),
    ("ece", VOTES, STEP, "three votes are calibrated worse than a stated confidence"),
    ("type_macro_f1", VOTES, STEP, "three votes name the type worse"),
    ("f1", SMALL, STEP, "the small model is worse than the large one"),
)
"""The declared family: (metric, auditor a, auditor b, the claim in words)."""


def claim_of(metric: str, a: str, b: str) -> str:
    """Return the claim in words that a comparison of the family stands for."""
    return next((text for m, left, right, text in CLAIMS if (m, left, right) == (metric, a, b)), "")


def ledger(
    published: Mapping[str, Any], scorecards: Sequence[Scorecard], trajectories: Iterable[Trajectory]
) -> list[Line]:
    """Return one line a printed figure.

    Args:
        published: the figures, as in ``experiments/trajectory_judge/published.yaml``.
        scorecards: of the published verdicts, under the ``published`` convention.
        trajectories: the published set.
    """
    cards = {card.auditor: card for card in scorecards}
    return [
        *_set_lines(published["set"], list(trajectories)),
        *_summary_lines(published["summary"], cards),
        *_pooled_lines(published["pooled_recall"], cards),
        *_recall_lines(published["per_type_recall"], cards),
        *_confusion_lines(published["confusion"], cards),
        *(Line(key, None, None, None, "not reproducible here", why) for key, why in published["not_released"].items()),
    ]


def _line(key: str, published: float | None, ours: Estimate | float | None, digits: int) -> Line:
    return ledger_line(key, None if published is None else f"{published:.{digits}f}", ours)


def _set_lines(published: Mapping[str, int], trajectories: list[Trajectory]) -> list[Line]:
    labels = [run.label for run in trajectories if run.label is not None]
    counts = {stratum: sum(label.stratum == stratum for label in labels) for stratum in ("clean", "silent", "loud")}
    types = [label.first.type for label in labels if label.first is not None]
    sizes = {types.count(kind) for kind in types}
    counts |= {"total": len(trajectories), "per_type": sizes.pop() if len(sizes) == 1 else -1}
    return [_line(f"set.{key}", value, counts[key], digits=0) for key, value in published.items()]


def _summary_lines(published: Mapping[str, Any], cards: Mapping[str, Scorecard]) -> list[Line]:
    columns = published["columns"]
    return [
        _line(
            f"summary.{auditor}.{metric}", value, cards[auditor].metrics[metric], digits=1 if metric == "seconds" else 3
        )
        for auditor, row in published.items()
        if auditor != "columns"
        for metric, value in zip(columns, row, strict=True)
    ]


def _pooled_lines(published: Mapping[str, float], cards: Mapping[str, Scorecard]) -> list[Line]:
    return [
        _line(f"pooled_recall.{auditor}", value, cards[auditor].metrics["recall"], digits=3)
        for auditor, value in published.items()
    ]


def _recall_lines(published: Mapping[str, Any], cards: Mapping[str, Scorecard]) -> list[Line]:
    return [
        _line(
            f"per_type_recall.{auditor}.{kind}",
            value,
            cards[auditor].metrics["false_alarm"]
            if kind == "false_alarms_on_clean"
            else cards[auditor].per_type_recall[kind],
            digits=2,
        )
        for kind, row in published.items()
        if kind != "columns"
        for auditor, value in zip(published["columns"], row, strict=True)
    ]


def _confusion_lines(published: Mapping[str, Any], cards: Mapping[str, Scorecard]) -> list[Line]:
    columns = published["columns"]
    return [
        _line(
            f"confusion.{auditor}.{kind}.{column}",
            value,
            cards[auditor].confusion[kind].get(column, 0),
            digits=0,
        )
        for auditor, rows in published.items()
        if auditor != "columns"
        for kind, row in rows.items()
        for column, value in zip(columns, row, strict=True)
    ]
