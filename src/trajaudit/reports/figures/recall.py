"""The main figure: which faults each auditor finds, those that show in the outcome and those that do not.

A row an auditor; silent recall, loud recall and false alarms in three lanes, each with its interval, and the same
numbers printed beside them. The gap between the two recalls is the blind spot of judging by the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.figures.style import BLUE, INK, ORANGE, SOFT, VERMILION, Drawing, rates, styled, wrapped
from trajaudit.reports.numbers import count, rate
from trajaudit.reports.scorecard_tables import AUDITOR, in_order, metric
from trajaudit.reports.table import Column, Row, Table

SERIES = (
    ("silent_recall", "silent faults found", "silent", BLUE, "o", True),
    ("loud_recall", "loud faults found", "loud", ORANGE, "D", False),
    ("false_alarm", "false alarms", "clean", VERMILION, "x", True),
)
"""Metric, legend, stratum, colour, marker, whether the marker is filled."""
POOLED = (("recall", "faults found", "faulty", BLUE, "o", True), SERIES[-1])
"""What is drawn where nobody knows the outcome of any faulty run, so that no fault is silent or loud."""
LANES = (0.24, 0.0, -0.24)
Series = tuple[tuple[str, str, str, str, str, bool], ...]


def recall_by_stratum(cards: Sequence[Scorecard]) -> Drawing:
    """Draw recall on silent and on loud faults, and false alarms, a row an auditor in the order of the tables."""
    ordered = in_order(cards)
    split = any(metric(card, name).value is not None for card in cards for name in ("silent_recall", "loud_recall"))
    series: Series = SERIES if split else POOLED
    columns = (AUDITOR, *(Column(name, label) for name, label, *_ in series))
    rows = tuple(Row((card.auditor, *(metric(card, name) for name, *_ in series)), why) for card, why in ordered)
    table = Table("recall_by_stratum", "Recall by stratum", columns, rows)
    faults = (
        "silent faults (the outcome still looks right) and of loud faults (it does not)" if split else "faulty runs"
    )
    caption = (
        f"Share of {faults} that each auditor flags, and share of clean runs that it flags wrongly, with 95 % "
        f"intervals.{'' if split else ' Nobody knows the outcome of a faulty run here, so none is silent or loud.'}"
    )
    with styled():
        return Drawing(table.key, caption, _figure(rows, series), table)


def _figure(rows: Sequence[Row], series: Series) -> Figure:
    height = 0.95 + 0.58 * len(rows)
    figure = Figure(figsize=(8.6, height))
    left, right = figure.subplots(1, 2, width_ratios=(3.4, 1.5), sharey=True, gridspec_kw={"wspace": 0.03})
    for position, row in enumerate(rows):
        _row(left, right, -position, row, series)
    rates(left)
    left.set_ylim(-len(rows) + 0.45, 0.55)
    names = [wrapped(str(row.cells[0]), 30) + (" †" if row.incomplete else "") for row in rows]
    left.set_yticks([-i for i in range(len(rows))], names)
    left.tick_params(axis="y", length=0, labelsize=9)
    left.spines[["left", "top", "right"]].set_visible(False)
    _headings(right, rows, series)
    _legend(left, series)
    dagger = "    († measured on other items than the rest)" if any(row.incomplete for row in rows) else ""
    left.set_xlabel(f"share of runs flagged{dagger}", fontsize=8, color=SOFT)
    return figure


def _row(left: Axes, right: Axes, y: float, row: Row, series: Series) -> None:
    if round(-y) % 2 == 0:
        for ax in (left, right):
            ax.axhspan(y - 0.5, y + 0.5, color="#f5f6f8", linewidth=0, zorder=0)
    for i, (_, _, _, colour, marker, filled) in enumerate(series):
        estimate = row.cells[1 + i]
        assert isinstance(estimate, Estimate)
        text = "—" if estimate.value is None else rate(float(estimate.value))
        weight = "bold" if i == 0 else "normal"
        right.text(0.17 + 0.33 * i, y, text, ha="center", va="center", fontsize=8.5, weight=weight, color=INK)
        if estimate.value is None:
            continue
        lane = y + LANES[i]
        if estimate.low is not None and estimate.high is not None:
            left.plot([estimate.low, estimate.high], [lane, lane], color=colour, linewidth=1.6, solid_capstyle="butt")
        face = colour if filled else "white"
        left.plot(estimate.value, lane, marker, color=colour, markerfacecolor=face, markersize=6.2, mew=1.6, zorder=3)


def _headings(right: Axes, rows: Sequence[Row], series: Series) -> None:
    """Print the name of each column of numbers, with its n where all auditors share it."""
    right.set_xlim(0, 1)
    right.axis("off")
    for i, (_, _, stratum, *_) in enumerate(series):
        cells = [cell for row in rows if isinstance(cell := row.cells[1 + i], Estimate)]
        sizes = {cell.n for cell in cells if cell.value is not None}
        n = f"\nn = {count(sizes.pop())}" if len(sizes) == 1 and sizes != {0} else ""
        heading = ("false\nalarm" if stratum == "clean" else stratum) + n
        right.text(0.17 + 0.33 * i, 0.62, heading, ha="center", va="bottom", fontsize=7.5, color=SOFT, linespacing=1.15)


def _legend(ax: Axes, series: Series) -> None:
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=6.2, mew=1.6, linewidth=1.6, label=label, mfc=face)
        for _, label, _, colour, marker, filled in series
        for face in (colour if filled else "white",)
    ]
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=len(series),
        frameon=False,
        handlelength=1.8,
        columnspacing=1.4,
        borderaxespad=0.2,
        fontsize=8.5,
    )
