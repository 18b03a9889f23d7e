"""Tables of a stacked hybrid: beside its parts, without each of them, and on fault types that it was never shown.

A metric that no row can have (steps and types where labels name none) is left out of a table, not printed empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.blind_spot import value
from trajaudit.reports.table import Column, Row, Table

COLUMNS = (
    *(Column("recall", "recall"), Column("silent_recall", "silent recall"), Column("false_alarm", "false alarm")),
    *(Column("f1", "F1"), Column("roc_auc", "AUC"), Column("within", "AUC within")),
    *(Column("step_exact", "exact step"), Column("step_joint", "found and located")),
    *(Column("type_macro_f1", "type macro-F1"), Column("type_joint", "found and named"), Column("ece", "ECE")),
)
WITHIN_NOTE = "AUC within: the ROC area among the runs of a group, averaged over groups of both classes, by runs."


@dataclass(frozen=True)
class Placed:
    """An auditor's scorecard, with the ROC area within groups."""

    card: Scorecard
    within: Estimate

    def cell(self, name: str) -> Estimate:
        return self.within if name == "within" else value(self.card, name)


def placed_table(key: str, title: str, placed: Mapping[str, Placed], notes: Sequence[str] = ()) -> Table:
    """Return a row an auditor, under its own name."""
    shown = [column for column in COLUMNS if any(one.cell(column.key).value is not None for one in placed.values())]
    rows = tuple(Row((name, *(one.cell(column.key) for column in shown))) for name, one in placed.items())
    within = [WITHIN_NOTE] if any(column.key == "within" for column in shown) else []
    return Table(key, title, (Column("auditor", "auditor", "text"), *shown), rows, (*within, *notes))


def type_table(key: str, title: str, placed: Mapping[str, Placed]) -> Table:
    """Return the recall of each fault type, a row an auditor."""
    kinds = list(dict.fromkeys(kind for one in placed.values() for kind in one.card.per_type_recall))
    columns = (Column("auditor", "auditor", "text"), *(Column(kind, kind) for kind in kinds))
    rows = tuple(Row((name, *(one.card.per_type_recall[kind] for kind in kinds))) for name, one in placed.items())
    return Table(key, title, columns, rows, ("Recall of runs whose first fault is of the type, named or not.",))


def held_back_table(key: str, title: str, found: Mapping[str, tuple[Placed, Estimate | None]]) -> Table:
    """Return what is found of each fault type by a hybrid trained without it, beside one trained with it.

    Args:
        found: by type, the scorecard on its runs and on clean ones, and the recall of a hybrid that was shown the
            type; null where there is none.
    """
    columns = (
        *(Column("type", "left out", "text"), Column("recall", "recall of it"), Column("shown", "when shown")),
        *(Column("step_joint", "and located"), Column("false_alarm", "false alarm"), Column("roc_auc", "AUC")),
    )
    rows = [
        Row((name, one.cell(name), shown, *(one.cell(key) for key in ("step_joint", "false_alarm", "roc_auc"))))
        for name, (one, shown) in found.items()
    ]
    note = (
        "No part and no weight was fitted on a run with the type, nor on a run of a tested group. It cannot name what "
        "it was never shown, so types are not scored."
    )
    return Table(key, title, columns, tuple(rows), (note,))
