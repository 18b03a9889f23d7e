"""Reliability: how often a verdict given at some confidence is right, a panel an auditor.

Points on the diagonal are calibrated; below it the auditor is surer than it is right. A point's area is its share of
the verdicts, so that an empty-looking panel is seen to be one bin, and its bar is the interval of its accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trajaudit.analysis.result import Scorecard
from trajaudit.reports.figures.style import BLUE, FAINT, INK, SOFT, Drawing, rates, styled, wrapped
from trajaudit.reports.numbers import rate
from trajaudit.reports.scorecard_tables import AUDITOR, in_order, metric
from trajaudit.reports.table import Column, Row, Table


def reliability_curves(cards: Sequence[Scorecard], columns: int = 4) -> Drawing:
    """Draw the reliability curve of each auditor that stated confidences."""
    shown = [card for card, _ in in_order(cards) if any(b.confidence is not None for b in card.reliability)]
    rows = tuple(
        Row((card.auditor, b.low, b.high, b.n, b.confidence, b.accuracy)) for card in shown for b in card.reliability
    )
    heads = (
        *(AUDITOR, Column("low", "above"), Column("high", "up to"), Column("n", "verdicts", "count")),
        *(Column("confidence", "mean confidence"), Column("accuracy", "accuracy")),
    )
    table = Table("reliability", "Reliability of stated confidence", heads, rows)
    caption = (
        "Accuracy of verdicts by stated confidence, with 95 % intervals; the area of a point is its share of the "
        "verdicts. Below the diagonal an auditor is surer than it is right."
    )
    with styled():
        return Drawing(table.key, caption, _figure(shown, columns), table)


def _figure(cards: Sequence[Scorecard], columns: int) -> Figure:
    across = max(1, min(columns, len(cards)))
    down = max(1, math.ceil(len(cards) / across))
    titles = [wrapped(card.auditor, 24) for card in cards]
    lines = max((title.count("\n") for title in titles), default=0)
    figure = Figure(figsize=(2.15 * across + 0.5, (2.2 + 0.15 * lines) * down + 0.3))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax in list(grid.flat)[len(cards) :]:
        ax.axis("off")
    for ax, card, title in zip(grid.flat, cards, titles, strict=False):
        _panel(ax, card, title)
    for i, ax in enumerate(list(grid.flat)[: len(cards)]):
        if i + across >= len(cards):
            ax.tick_params(labelbottom=True)
            ax.set_xlabel("stated confidence")
        if i % across == 0:
            ax.set_ylabel("accuracy")
    figure.tight_layout(w_pad=0.6, h_pad=0.8)
    return figure


def _panel(ax: Axes, card: Scorecard, title: str) -> None:
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    total = sum(b.n for b in card.reliability) or 1
    for b in card.reliability:
        if b.confidence is None or b.accuracy.value is None:
            continue
        if b.accuracy.low is not None and b.accuracy.high is not None:
            ax.plot([b.confidence] * 2, [b.accuracy.low, b.accuracy.high], color=BLUE, linewidth=1.4, zorder=2)
        width = math.sqrt(12 + 180 * b.n / total)
        ax.plot(b.confidence, b.accuracy.value, "o", color=BLUE, mec="white", markersize=width, clip_on=False, zorder=3)
    ece = metric(card, "ece")
    rates(ax, "y")
    rates(ax, "x")
    ax.grid(color=FAINT, linewidth=0.7)
    if _all_above_half(card):
        ax.set_xlim(0.45, 1.03)
        ax.set_xticks([0.5, 0.75, 1], [".50", ".75", "1"])
    ax.set_title(title, loc="left", fontsize=8.5)
    if ece.value is not None:
        ax.text(0.04, 0.95, f"ECE {rate(float(ece.value))}", transform=ax.transAxes, va="top", fontsize=8, color=INK)


def _all_above_half(card: Scorecard) -> bool:
    return all(b.confidence is None or b.confidence >= 0.5 for b in card.reliability)
