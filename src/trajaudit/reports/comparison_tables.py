"""The tables that say how sure one may be: paired comparisons, and who is counted under either convention.

A comparison *survives* only by its p-value adjusted over the declared family; an unadjusted one is never enough, and
what does not survive is "not shown", never "equal": beside it stands the difference that this many items could have
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trajaudit.analysis.result import Comparison, Estimate, Scorecard
from trajaudit.reports.table import Cell, Column, Row, Table

HEADLINE = (
    Column("f1", "F1"),
    Column("silent_recall", "silent recall"),
    Column("loud_recall", "loud recall"),
    Column("false_alarm", "false alarm"),
)
"""The metrics that the denominator table prints under each convention."""


def verdict_in_words(comparison: Comparison) -> str:
    """Return "survives", "not shown", "not adjusted" (no family was declared) or "undefined".

    >>> one = Estimate(0.3, 0.2, 0.4, n=175)
    >>> verdict_in_words(Comparison("recall", "a", "b", one, "McNemar", 0.001, p_holm=0.003, family="all"))
    'survives'
    >>> verdict_in_words(Comparison("recall", "a", "b", one, "McNemar", 0.04, p_holm=0.12, family="all"))
    'not shown'
    """
    if comparison.p_value is None:
        return "undefined"
    if comparison.p_holm is None:
        return "not adjusted"
    alpha = round(1 - comparison.difference.level, 12)
    return "survives" if comparison.p_holm < alpha else "not shown"


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Return paired differences with interval, p, Holm's p, the minimum detectable effect and a verdict in words."""
    columns = (
        *(Column("metric", "metric", "text"), Column("a", "a", "text"), Column("b", "b", "text")),
        *(Column("difference", "a − b", "difference"), Column("n", "items", "count"), Column("test", "test", "text")),
        *(Column("p", "p", "p"), Column("p_holm", "Holm p", "p")),
        *(Column("mde", "detectable"), Column("verdict", "verdict", "text")),
    )
    families = dict.fromkeys(comparison.family for comparison in comparisons if comparison.family)
    notes = [
        "Paired over the same items. Survives: Holm's p over the family is below the level. "
        "Not shown is not equal: detectable is the smallest true difference found with 80 % power.",
        *([f"Families: {'; '.join(families)}."] if families else []),
    ]
    rows = tuple(Row(tuple(_comparison_cells(comparison))) for comparison in comparisons)
    return Table("comparisons", "Paired comparisons", columns, rows, tuple(notes))


def _comparison_cells(comparison: Comparison) -> Iterable[Cell]:
    reason = comparison.reason or comparison.difference.reason
    yield from (comparison.metric, comparison.a, comparison.b, comparison.difference)
    yield from (comparison.difference.n, comparison.test)
    yield Estimate(comparison.p_value, reason=reason)
    yield Estimate(comparison.p_holm, reason=reason or "no family of comparisons was declared")
    yield Estimate(comparison.mde, reason=reason or "no difference would be found with so few")
    yield verdict_in_words(comparison)


def denominator_table(cards: Sequence[Scorecard]) -> Table:
    """Return who is counted for each auditor, and the headline metrics under each convention."""
    causes = dict.fromkeys(cause for card in cards for cause, n in card.denominator.failed.items() if n)
    columns = (
        *(Column("auditor", "auditor", "text"), Column("convention", "convention", "text")),
        *(Column("attempted", "attempted", "count"), Column("answered", "answered", "count")),
        *(Column(f"failed_{cause}", cause, "count") for cause in causes),
        Column("truncated", "truncated", "count"),
        *HEADLINE,
    )
    rows = []
    for card in _side_by_side(cards):
        counted = card.denominator
        failed: list[Cell] = [counted.failed.get(cause, 0) for cause in causes]
        metrics: list[Cell] = [
            card.metrics.get(column.key, Estimate(None, reason="not measured")) for column in HEADLINE
        ]
        cells = (card.auditor, card.convention, counted.attempted, counted.answered, *failed, counted.truncated)
        rows.append(Row((*cells, *metrics)))
    note = "Convention published: no opinion counts as clean at 0.5. Convention answered: no opinion is left out."
    return Table("denominators", "Denominators", columns, tuple(rows), (note,))


def bounds_table(cards: Sequence[Scorecard]) -> Table:
    """Return, for each metric that failures could move, the lowest and highest value that answers could have given."""
    columns = (
        *(Column("auditor", "auditor", "text"), Column("metric", "metric", "text")),
        *(Column("convention", "convention", "text"), Column("estimate", "estimate")),
        *(Column("lowest", "lowest"), Column("highest", "highest")),
    )
    moved = [(card, name, low, high) for card in cards for name, (low, high) in card.bounds.items() if low != high]
    rows = tuple(
        Row((card.auditor, name, card.convention, card.metrics.get(name), low, high)) for card, name, low, high in moved
    )
    counted = {card.auditor: card.denominator for card, *_ in moved}
    title = "What failures could hide: bounds over any answers in their place"
    return Table("bounds", title, columns, rows, (), counted)


def _side_by_side(cards: Sequence[Scorecard]) -> list[Scorecard]:
    """Return the cards with the conventions of one auditor next to each other."""
    auditors = list(dict.fromkeys(card.auditor for card in cards))
    return sorted(cards, key=lambda card: auditors.index(card.auditor))
