"""Two heat maps of fault types: the recall of each, and what each was taken for.

The false alarms stand in a colour of their own, since there a dark cell is bad.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.figures.grid import ALARMS, SHADES, cell, frame
from trajaudit.reports.figures.style import SOFT, Drawing, short, styled, wrapped
from trajaudit.reports.numbers import count
from trajaudit.reports.scorecard_tables import AUDITOR, in_order, type_recall_table
from trajaudit.reports.table import Column, Row, Table


def per_type_recall(cards: Sequence[Scorecard]) -> Drawing:
    """Draw recall by true type, a row an auditor, with false alarms on clean runs apart from them."""
    full = type_recall_table(cards)
    table = Table("per_type_recall", full.title, full.columns, full.rows)
    caption = "Share of the faults of each type that are flagged, whatever type was named; at the right, false alarms."
    with styled():
        return Drawing(table.key, caption, _recall_figure(table), table)


def _recall_figure(table: Table) -> Figure:
    types = len(table.columns) - 2
    figure = Figure(figsize=(2.6 + 0.82 * (types + 1.3), 1.3 + 0.42 * len(table.rows)))
    ax = figure.subplots()
    xs = [*range(types), types + 0.3]
    for i, row in enumerate(table.rows):
        for x, recall in zip(xs, row.cells[1:], strict=True):
            assert isinstance(recall, Estimate)
            text = "—" if recall.value is None else f"{recall.value:.2f}"
            cell(ax, x, i, recall.value, text, ALARMS if x == xs[-1] else SHADES)
    labels = [
        f"{wrapped(column.header, 14)}\n{_shared_n(table, j)}".rstrip() for j, column in enumerate(table.columns[1:], 1)
    ]
    frame(ax, xs, labels, [wrapped(str(row.cells[0]), 30) + (" †" if row.incomplete else "") for row in table.rows])
    return figure


def _shared_n(table: Table, j: int) -> str:
    sizes = {shown.n for row in table.rows if isinstance(shown := row.cells[j], Estimate) and shown.value is not None}
    return f"n = {count(sizes.pop())}" if len(sizes) == 1 else ""


def confusion_matrices(cards: Sequence[Scorecard], columns: int = 3) -> Drawing:
    """Draw a panel an auditor: true types in rows, predicted types and missed in columns, shaded by row share."""
    shown = [card for card, _ in in_order(cards) if card.confusion]
    names = dict.fromkeys(name for card in shown for row in card.confusion.values() for name in row if name != "missed")
    heads = (AUDITOR, Column("true_type", "true type", "text"), *(Column(n, n, "count") for n in (*names, "missed")))
    rows = tuple(
        Row((card.auditor, true, *(row.get(name, 0) for name in (*names, "missed"))))
        for card in shown
        for true, row in card.confusion.items()
    )
    table = Table("confusion", "Confusion of fault types", heads, rows)
    caption = (
        "What each true fault type (rows) was taken for (columns, with missed last); shade is the share of its row."
    )
    with styled():
        return Drawing(table.key, caption, _confusion_figure(shown, (*names, "missed"), columns), table)


def _confusion_figure(cards: Sequence[Scorecard], predicted: Sequence[str], columns: int) -> Figure:
    across = max(1, min(columns, len(cards)))
    down = max(1, math.ceil(len(cards) / across))
    true = dict.fromkeys(name for card in cards for name in card.confusion)
    left, below = (max((len(short(name)) for name in names), default=0) for names in (true, predicted))
    size = (
        0.4 + 0.066 * left + across * (0.42 * len(predicted) + 0.3),
        0.4 + 0.06 * below + down * (0.36 * len(true) + 0.55),
    )
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for ax in panels[len(cards) :]:
        ax.axis("off")
    for i, (ax, card) in enumerate(zip(panels, cards, strict=False)):
        _confusion_panel(ax, card, tuple(true), predicted)
        ax.tick_params(length=0, labelbottom=i + across >= len(cards), labelleft=i % across == 0)
        ax.set_title(wrapped(card.auditor, 34), loc="left", fontsize=8.5)
    return figure


def _confusion_panel(ax: Axes, card: Scorecard, true: Sequence[str], predicted: Sequence[str]) -> None:
    for y, name in enumerate(true):
        row = card.confusion.get(name, {})
        total = sum(row.values())
        for x, other in enumerate(predicted):
            n = row.get(other, 0)
            colours = ALARMS if other == "missed" else SHADES
            cell(ax, x, y, n / total if total else None, count(n) if n else "", colours)
            if other == name:
                ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=SOFT, linewidth=1.1, zorder=4))
    ax.set_xlim(-0.5, len(predicted) - 0.5)
    ax.set_ylim(len(true) - 0.5, -0.5)
    labels = [short(name) for name in predicted]
    ax.set_xticks(range(len(predicted)), labels, rotation=55, ha="right", rotation_mode="anchor", fontsize=7.5)
    ax.set_yticks(range(len(true)), [short(name) for name in true], fontsize=7.5)
    ax.spines[:].set_visible(False)
