"""From scorecards to the tables of a report, one function a table.

All cards of a table share one convention, since mixing the two would compare different quantities. An auditor that
was not measured on all the items (fewer attempted than the others; or, where failures are left out, fewer answered;
or some that a rerun would still answer) is marked, listed last and not ranked: a mean over whatever items exist
rises when the hard ones fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.numbers import count
from trajaudit.reports.table import Cell, Column, Row, Table
from trajaudit.verdict import RETRYABLE

AUDITOR = Column("auditor", "auditor", "text")

SUMMARY = (
    Column("f1", "F1"),
    Column("silent_recall", "silent recall"),
    Column("loud_recall", "loud recall"),
    Column("recall", "pooled recall"),
    Column("false_alarm", "false alarm"),
    Column("step_exact", "exact step"),
    Column("step_joint", "found and located"),
    Column("type_macro_f1", "type macro-F1"),
    Column("ece", "ECE"),
    Column("seconds", "seconds", "seconds"),
)
DETECTION = (
    *(Column("precision", "precision"), Column("recall", "recall"), Column("f1", "F1")),
    *(Column("silent_recall", "silent recall"), Column("loud_recall", "loud recall")),
    *(Column("false_alarm", "false alarm"), Column("flag_rate", "flagged"), Column("accuracy", "accuracy")),
    *(Column("roc_auc", "ROC-AUC"), Column("average_precision", "average precision")),
)
LOCALISATION = (
    Column("step_exact", "exact step"),
    Column("step_within_one", "within one step"),
    Column("step_exact_any", "exact, any fault"),
    Column("step_joint", "found and located"),
    Column("step_first", "always first"),
    Column("step_last", "always last"),
    Column("step_uniform", "at random"),
    Column("step_prior", "most frequent"),
)
TYPING = (Column("type_macro_f1", "type macro-F1"), Column("type_joint", "found and named"))
CALIBRATION = (
    Column("ece", "ECE"),
    Column("ece_mass", "ECE, equal mass"),
    Column("brier", "Brier"),
    Column("brier_reliability", "Brier: reliability"),
    Column("brier_resolution", "Brier: resolution"),
    Column("aurc", "AURC"),
)
COST = (
    Column("calls", "calls"),
    Column("prompt_tokens", "prompt tokens", "count"),
    Column("completion_tokens", "completion tokens", "count"),
    Column("seconds", "seconds", "seconds"),
    Column("usd", "US$", "usd"),
    Column("seconds_ratio", "seconds, relative to rules", "ratio"),
)


def incomplete(card: Scorecard, items: int) -> str | None:
    """Return why a card cannot be ranked beside others measured on ``items`` items, or None where it can."""
    denominator = card.denominator
    if denominator.attempted < items:
        return f"attempted {count(denominator.attempted)} of {count(items)} items"
    if card.convention == "answered" and denominator.answered < items:
        return f"answered {count(denominator.answered)} of {count(items)} items"
    waiting = sum(denominator.failed.get(status, 0) for status in RETRYABLE)
    return f"{count(waiting)} of {count(items)} items still to be answered" if waiting else None


def in_order(cards: Iterable[Scorecard]) -> list[tuple[Scorecard, str | None]]:
    """Return each card with the reason why it is not ranked; the ranked ones first, else in the order given."""
    cards = list(cards)
    conventions = sorted({card.convention for card in cards})
    if len(conventions) > 1:
        raise ValueError(f"one table: expected scorecards of one convention, got {' and '.join(conventions)}")
    items = max((card.denominator.attempted for card in cards), default=0)
    marked = [(card, incomplete(card, items)) for card in cards]
    return sorted(marked, key=lambda pair: pair[1] is not None)


def metric(card: Scorecard, name: str) -> Estimate:
    """Return a metric of a card, undefined with its reason where the card has none of that name."""
    return card.metrics.get(name) or Estimate(None, reason="not measured")


def _table(
    key: str, title: str, columns: Sequence[Column], cards: Iterable[Scorecard], notes: Iterable[str] = ()
) -> Table:
    """Return a table with a row an auditor and a column a metric."""
    ordered = in_order(cards)
    rows = [Row((card.auditor, *(metric(card, c.key) for c in columns)), reason) for card, reason in ordered]
    return _assembled(key, title, (AUDITOR, *columns), rows, [card for card, _ in ordered], notes)


def _assembled(
    key: str,
    title: str,
    columns: Iterable[Column],
    rows: Iterable[Row],
    cards: Sequence[Scorecard],
    notes: Iterable[str] = (),
) -> Table:
    denominators = {card.auditor: card.denominator for card in cards}
    convention = cards[0].convention if cards else None
    return Table(key, title, tuple(columns), tuple(rows), tuple(notes), denominators, convention)


def summary_table(cards: Sequence[Scorecard]) -> Table:
    """Return the headline table, with a rank by F1 among the auditors that can be ranked (equal values share one)."""
    table = _table(
        "summary",
        "Summary",
        SUMMARY,
        cards,
        [
            "Silent: faulty, yet the outcome is the right one; loud: faulty, and it is not.",
            "Exact step: over faulty runs that were flagged with a step; found and located: over all faulty runs.",
            "Rank: by F1, whatever the intervals; see the comparisons for which differences are certain.",
        ],
    )
    f1 = [row.cells[1] for row in table.rows if row.incomplete is None]
    values = [cell.value for cell in f1 if isinstance(cell, Estimate) and cell.value is not None]
    rows = tuple(Row((row.cells[0], _rank(row, values), *row.cells[1:]), row.incomplete) for row in table.rows)
    columns = (AUDITOR, Column("rank", "rank", "count"), *SUMMARY)
    return Table(table.key, table.title, columns, rows, table.notes, table.denominators, table.convention)


def _rank(row: Row, values: Sequence[float]) -> Cell:
    f1 = row.cells[1]
    if row.incomplete is not None or not isinstance(f1, Estimate) or f1.value is None:
        return None
    return 1 + sum(value > f1.value for value in values)


def detection_table(cards: Sequence[Scorecard]) -> Table:
    return _table("detection", "Detection", DETECTION, cards)


def localisation_table(cards: Sequence[Scorecard]) -> Table:
    """Return where faults were placed, beside the trivial baselines on the same runs."""
    notes = [
        "Exact, within one and any fault: over faulty runs that were flagged with a step; "
        "found and located: over all faulty runs.",
        "Always first, always last, at random and most frequent (the step most often at fault in the other groups) "
        "read nothing: the exact step of such a guess, on the runs that the auditor's own is taken over.",
    ]
    return _table("localisation", "Localisation", LOCALISATION, cards, notes)


def typing_table(cards: Sequence[Scorecard]) -> Table:
    note = "Over faulty runs; a missed fault, or one flagged without a type, is a miss of its true type."
    return _table("typing", "Typing", TYPING, cards, [note])


def type_recall_table(cards: Sequence[Scorecard]) -> Table:
    """Return the recall of each true type, and false alarms on clean runs beside it."""
    names = dict.fromkeys(name for card in cards for name in card.per_type_recall)
    columns = (AUDITOR, *(Column(name, name) for name in names), Column("false_alarm", "false alarms on clean"))
    ordered = in_order(cards)
    absent = Estimate(None, reason="no item of this type")
    rows = [
        Row((card.auditor, *(card.per_type_recall.get(n, absent) for n in names), metric(card, "false_alarm")), reason)
        for card, reason in ordered
    ]
    return _assembled("type_recall", "Recall by fault type", columns, rows, [card for card, _ in ordered])


def confusion_table(card: Scorecard, number: int = 0) -> Table:
    """Return the confusion of one auditor: a row a true type, a column a predicted type, and missed."""
    predicted = dict.fromkeys(name for row in card.confusion.values() for name in row if name != "missed")
    names = (*predicted, "missed")
    columns = (Column("true_type", "true type", "text"), *(Column(name, name, "count") for name in names))
    rows = [Row((true, *(row.get(name, 0) for name in names))) for true, row in card.confusion.items()]
    title = f"Confusion of {card.auditor}: rows true, columns predicted"
    return _assembled(f"confusion_{number}", title, columns, rows, [card])


def calibration_table(cards: Sequence[Scorecard]) -> Table:
    notes = [
        "ECE: over ten equal-width bins on (low, high], of the auditor's own verdict being right.",
        "Lower is better, but for resolution.",
    ]
    return _table("calibration", "Calibration", CALIBRATION, cards, notes)


def cost_table(cards: Sequence[Scorecard]) -> Table:
    note = "Means over items, per trajectory. An unknown price or token count is a dash, never zero."
    return _table("cost", "Cost per trajectory", COST, cards, [note])


def scorecard_tables(cards: Sequence[Scorecard]) -> list[Table]:
    """Return every table of scorecards of one convention, in the order of the report."""
    makers = (
        *(summary_table, detection_table, localisation_table, typing_table, type_recall_table),
        *(calibration_table, cost_table),
    )
    confusions = [confusion_table(card, i) for i, card in enumerate(cards, start=1) if card.confusion]
    return [make(cards) for make in makers] + confusions
