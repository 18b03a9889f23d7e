"""Forest plot of the execution-quality flags: the AUC of each flag's absence, in the paper and on other runs.

A row a flag, in the paper's order; a lane a set, each with its interval. The printed numbers say the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from trajaudit.analysis.result import Estimate
from trajaudit.reports.figures.style import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, SOFT, Drawing, styled
from trajaudit.reports.numbers import rate
from trajaudit.reports.table import Column, Row, Table

LOOKS = ((INK, "o"), (BLUE, "s"), (ORANGE, "D"), (GREEN, "^"), (PURPLE, "v"))
"""Colour and marker of each set in turn."""


def signal_forest(table: Table) -> Drawing:
    """Draw the AUCs of a signal table (`trajaudit.reports.signal_tables.signal_table`), sets in its order."""
    place = {column.key: i for i, column in enumerate(table.columns)}
    rows = tuple(Row(tuple(row.cells[place[key]] for key in ("flag", "set", "auc"))) for row in table.rows)
    columns = (Column("flag", "flag", "text"), Column("set", "set", "text"), Column("auc", "AUC"))
    data = Table("signal_forest", "AUC of each flag's absence", columns, rows, table.notes)
    caption = (
        "How well the absence of each execution-quality flag tells a hallucinating run: area under the ROC curve with "
        "95 % intervals. The paper's figures (intervals from the counts behind them, runs taken as independent) "
        "and other runs (intervals by scenario)."
    )
    with styled():
        return Drawing(data.key, caption, _figure(rows), data)


def _figure(rows: Sequence[Row]) -> Figure:
    flags = list(dict.fromkeys(str(row.cells[0]) for row in rows))
    sets = list(dict.fromkeys(str(row.cells[1]) for row in rows))
    figure = Figure(figsize=(7.6, 0.9 + 0.26 * len(flags) * (len(sets) + 0.6)))
    ax = figure.subplots()
    for row in rows:
        lane = sets.index(str(row.cells[1]))
        spread = 0.72 * (lane - (len(sets) - 1) / 2) / max(1, len(sets))
        _point(ax, -flags.index(str(row.cells[0])) - spread, row.cells[2], LOOKS[lane % len(LOOKS)])
    ax.axvline(0.5, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_yticks([-i for i in range(len(flags))], [flag.replace("_", " ") for flag in flags])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-len(flags) + 0.4, 0.6)
    ax.set_xlabel("AUC of the flag's absence (0.5: it tells nothing)", fontsize=8, color=SOFT)
    ax.grid(axis="x", color=FAINT, linewidth=0.7)
    ax.set_axisbelow(True)
    _legend(ax, sets)
    return figure


def _point(ax: Axes, y: float, cell: object, look: tuple[str, str]) -> None:
    """Draw one estimate with its interval and print it at the right edge."""
    estimate = cell if isinstance(cell, Estimate) else Estimate(cell if isinstance(cell, float) else None)
    if estimate.value is None:
        return
    colour, marker = look
    if estimate.low is not None and estimate.high is not None:
        ax.plot([estimate.low, estimate.high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
    ax.plot(estimate.value, y, marker, color=colour, markersize=5.6, zorder=3)
    ax.text(
        1.01, y, rate(float(estimate.value)), transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=colour
    )


def _legend(ax: Axes, sets: Sequence[str]) -> None:
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=5.6, linewidth=1.6, label=name)
        for name, (colour, marker) in zip(sets, LOOKS, strict=False)
    ]
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(sets), frameon=False, fontsize=8.5
    )
