"""Two heat maps of fault types: the recall of each, and what each was taken for.

Every cell prints its number, so that shade only guides the eye; an undefined cell is hatched, not pale, since pale
would read as zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.figures.style import FAINT, INK, SOFT, Drawing, short, styled, wrapped
from trajaudit.reports.numbers import count
from trajaudit.reports.scorecard_tables import AUDITOR, in_order, type_recall_table
from trajaudit.reports.table import Column, Row, Table

SHADES = colormaps["Blues"]
ALARMS = colormaps["Oranges"]


def _cell(ax: Axes, x: float, y: float, shade: float | None, text: str, colours: object = SHADES) -> None:
    """Draw a unit cell centred at (x, y): ``shade`` in [0, 1], or hatched where it is None."""
    if shade is None:
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", edgecolor=FAINT, hatch="////", linewidth=0))
    else:
        colour = colours(0.04 + 0.82 * shade)  # type: ignore[operator]
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.2))
    ink = "white" if shade is not None and shade > 0.6 else INK
    ax.text(x, y, text, ha="center", va="center", fontsize=8, color=ink)


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
        for x, cell in zip(xs, row.cells[1:], strict=True):
            assert isinstance(cell, Estimate)
            text = "—" if cell.value is None else f"{cell.value:.2f}"
            _cell(ax, x, i, cell.value, text, ALARMS if x == xs[-1] else SHADES)
    labels = [
        f"{wrapped(column.header, 14)}\n{_shared_n(table, j)}".rstrip() for j, column in enumerate(table.columns[1:], 1)
    ]
    _frame(ax, xs, labels, [wrapped(str(row.cells[0]), 30) + (" †" if row.incomplete else "") for row in table.rows])
    return figure


def _shared_n(table: Table, j: int) -> str:
    sizes = {cell.n for row in table.rows if isinstance(cell := row.cells[j], Estimate) and cell.value is not None}
    return f"n = {count(sizes.pop())}" if len(sizes) == 1 else ""


def _frame(ax: Axes, xs: Sequence[float], labels: Sequence[str], names: Sequence[str]) -> None:
    """Label a grid of cells: columns on top, rows at the left, no axes."""
    ax.set_xlim(-0.5, xs[-1] + 0.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.xaxis.tick_top()
    ax.set_xticks(list(xs), labels, fontsize=7.5, linespacing=1.15)
    ax.set_yticks(range(len(names)), names, fontsize=8.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


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
            _cell(ax, x, y, n / total if total else None, count(n) if n else "", colours)
            if other == name:
                ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=SOFT, linewidth=1.1, zorder=4))
    ax.set_xlim(-0.5, len(predicted) - 0.5)
    ax.set_ylim(len(true) - 0.5, -0.5)
    labels = [short(name) for name in predicted]
    ax.set_xticks(range(len(predicted)), labels, rotation=55, ha="right", rotation_mode="anchor", fontsize=7.5)
    ax.set_yticks(range(len(true)), [short(name) for name in true], fontsize=7.5)
    ax.spines[:].set_visible(False)
