"""Tables of the blind-spot experiment: goals, what each part adds, what is found of faults that were never shown.

The goals were set before anything was measured, and are counted as reached by the estimate alone; the interval beside
it says how sure that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.scorecard_tables import metric
from trajaudit.reports.table import Cell, Column, Row, Table

GOALS: tuple[tuple[str, str, float], ...] = (
    ("silent_recall", "at least", 0.98),
    ("false_alarm", "at most", 0.0),
    ("unsupported_claim", "at least", 0.95),
    ("step_exact", "at least", 0.97),
    ("type_macro_f1", "at least", 0.90),
    ("ece", "at most", 0.03),
)
"""(metric or fault type, direction, value): what the hybrid was to reach on the published runs."""
MILLISECONDS = 100.0
HEADLINE = (
    *(Column("recall", "recall"), Column("silent_recall", "silent recall"), Column("loud_recall", "loud recall")),
    *(Column("unsupported_claim", "unsupported claims"), Column("false_alarm", "false alarm")),
    *(Column("step_exact", "exact step"), Column("type_macro_f1", "type macro-F1"), Column("ece", "ECE")),
)


def value(card: Scorecard, name: str) -> Estimate:
    """Return a metric of a card, or its recall of a fault type."""
    return card.per_type_recall[name] if name in card.per_type_recall else metric(card, name)


def goals_table(card: Scorecard, milliseconds: float) -> Table:
    """Return the goals beside what one auditor reached; of its speed only whether, since that differs by machine."""
    columns = (Column("goal", "goal", "text"), Column("measured", "measured"), Column("reached", "reached", "text"))
    rows = []
    for name, direction, bound in GOALS:
        found = value(card, name)
        reached = found.value is not None and (
            found.value >= bound if direction == "at least" else found.value <= bound
        )
        rows.append(Row((f"{name} {direction} {bound:g}", found, "yes" if reached else "no")))
    fast = "yes" if milliseconds < MILLISECONDS else "no"
    rows.append(Row((f"under {MILLISECONDS:g} ms a trajectory, one core", None, fast)))
    note = f"Of {card.auditor}, on the published runs, its threshold frozen before."
    return Table("goals", "Goals", columns, tuple(rows), (note,))


def renamed(table: Table, prefix: str, of: str) -> Table:
    """Return a table under a key and title that say of which set it is."""
    return replace(table, key=f"{prefix}_{table.key}", title=f"{table.title}: {of}")


def headline_table(key: str, title: str, cards: Mapping[str, Scorecard], notes: Sequence[str] = ()) -> Table:
    """Return the headline metrics of scorecards, a row each under its own name."""
    rows = [Row((name, *(value(card, column.key) for column in HEADLINE))) for name, card in cards.items()]
    return Table(key, title, (Column("auditor", "auditor", "text"), *HEADLINE), tuple(rows), tuple(notes))


def left_out_table(found: Mapping[str, Scorecard]) -> Table:
    """Return what a hybrid that was never shown a fault type finds of it, and its false alarms."""
    columns = (
        *(Column("type", "left out", "text"), Column("recall", "recall of it"), Column("step_joint", "and located")),
        Column("false_alarm", "false alarm"),
    )
    rows: list[Row] = []
    for name, card in found.items():
        cells: tuple[Cell, ...] = (name, value(card, name), metric(card, "step_joint"), metric(card, "false_alarm"))
        rows.append(Row(cells))
    note = "Its parts saw clean runs only. It cannot name a type that it was never shown, so types are not scored."
    return Table("left_out", "Leave one fault type out (bank b)", columns, tuple(rows), (note,))
