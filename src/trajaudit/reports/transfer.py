"""The table of transfer between domains: what a detector reaches with so many labels of the target, by its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajaudit.analysis.result import Estimate
from trajaudit.reports.table import Column, Row, Table

MOST = 10**9
"""Where "all labels" stands in the order of numbers of labels."""


@dataclass(frozen=True)
class Point:
    """A point of a learning curve: one detector on one target.

    ``source`` is the domain whose weights were started from, null for none; ``labels`` of the target, 0 for none and
    null for all; ``areas`` the AUC of each training, ``auc`` and ``within`` their means with intervals by group.
    """

    target: str
    detector: str
    source: str | None
    labels: int | None
    areas: tuple[float, ...]
    auc: Estimate
    within: Estimate

    @property
    def order(self) -> tuple[str, str, str, int]:
        return self.target, self.detector, self.source or "", MOST if self.labels is None else self.labels


def curve_table(points: Sequence[Point]) -> Table:
    """Return the points of all curves, one curve after the other."""
    columns = (
        *(Column("target", "tested on", "text"), Column("detector", "detector", "text")),
        *(Column("source", "started from", "text"), Column("labels", "labels of the target", "text")),
        *(Column("trainings", "trainings", "count"), Column("auc", "AUC, mean"), Column("least", "least")),
        *(Column("most", "most"), Column("within", "AUC within groups"), Column("n", "tested", "count")),
    )
    rows = tuple(
        Row(
            (
                *(one.target, one.detector, one.source or "—", "all" if one.labels is None else str(one.labels)),
                *(len(one.areas), one.auc, min(one.areas, default=None), max(one.areas, default=None)),
                *(one.within, one.auc.n),
            )
        )
        for one in points
    )
    notes = (
        "No label of the target: the source's training as it is. Trainings: draws of the labels (and seeds); least and "
        "most are theirs, the interval is that of new runs, by group.",
        "All points of a target are measured on the same runs, of groups that no training learnt from.",
    )
    return Table("curves", "Labels of the target, with and without a source", columns, rows, notes)
