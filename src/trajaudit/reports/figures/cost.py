"""Cost against quality: what a better auditor costs, and which ones no other beats in both.

Cost is on a log scale, with a place of its own at the left for what costs nothing. An auditor is on the frontier if
none is at least as good for at most the cost, and better in one of the two; by the estimates, whatever the intervals.
An auditor without a known cost is named, not placed; one measured on other items is drawn, but not on the frontier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.figures.style import BLUE, FAINT, INK, MARKERS, SOFT, Drawing, rates, styled, wrapped
from trajaudit.reports.scorecard_tables import AUDITOR, in_order, metric
from trajaudit.reports.table import Column, Row, Table

COSTS: Mapping[str, tuple[str, str]] = {
    "seconds": ("seconds per trajectory", "seconds"),
    "usd": ("US$ per trajectory", "usd"),
    "prompt_tokens": ("prompt tokens per trajectory", "count"),
    "completion_tokens": ("completion tokens per trajectory", "count"),
    "seconds_ratio": ("seconds, relative to the rules", "ratio"),
}


@dataclass(frozen=True)
class Point:
    """An auditor in the plane of cost and quality."""

    auditor: str
    cost: Estimate
    quality: Estimate
    incomplete: str | None = None

    @property
    def placed(self) -> bool:
        return self.cost.value is not None and self.quality.value is not None


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other dominates, by rising cost. Of equal points each stays.

    >>> def point(name, cost, quality):
    ...     return Point(name, Estimate(cost), Estimate(quality))
    >>> [p.auditor for p in frontier([point("a", 1, 0.8), point("b", 2, 0.7), point("c", 3, 0.9)])]
    ['a', 'c']
    """
    places = [(p, *_place(p)) for p in points if p.placed and p.incomplete is None]
    best = [
        (p, cost)
        for p, cost, quality in places
        if not any(c <= cost and q >= quality and (c, q) != (cost, quality) for _, c, q in places)
    ]
    return [p for p, _ in sorted(best, key=lambda pair: pair[1])]


def _place(point: Point) -> tuple[float, float]:
    assert point.cost.value is not None
    assert point.quality.value is not None
    return float(point.cost.value), float(point.quality.value)


def cost_quality(cards: Sequence[Scorecard], cost: str = "seconds", quality: str = "f1") -> Drawing:
    """Draw a quality metric (a rate) against a cost metric, with the frontier."""
    if cost not in COSTS:
        raise ValueError(f"cost: expected one of {', '.join(COSTS)}, got {cost!r}")
    points = [Point(card.auditor, metric(card, cost), metric(card, quality), why) for card, why in in_order(cards)]
    best = frontier(points)
    label = {"f1": "F1"}.get(quality, quality.replace("_", " "))
    columns = (
        *(AUDITOR, Column(cost, COSTS[cost][0], COSTS[cost][1]), Column(quality, label)),
        Column("frontier", "on the frontier", "text"),
    )
    rows = tuple(Row((p.auditor, p.cost, p.quality, "yes" if p in best else "no"), p.incomplete) for p in points)
    table = Table("cost_quality", f"{label} against {COSTS[cost][0]}", columns, rows)
    caption = (
        f"{label} with its interval against {COSTS[cost][0]} (log scale). "
        "The line joins the auditors that no other beats in both."
    )
    with styled():
        return Drawing(table.key, caption, _figure(points, best, cost, label), table)


def _figure(points: Sequence[Point], best: Sequence[Point], cost: str, label: str) -> Figure:
    figure = Figure(figsize=(8.6, max(3.4, 0.6 + 0.36 * len(points))))
    ax, key = figure.subplots(1, 2, width_ratios=(3, 1.75), gridspec_kw={"wspace": 0.04})
    free = _log_axis(ax, points, COSTS[cost][1])
    steps = [(free if not place[0] else place[0], place[1]) for place in map(_place, best)]
    if steps:
        ax.step(*zip(*steps, strict=True), where="post", color=SOFT, linewidth=1.1, linestyle=(0, (5, 2)), zorder=1)
    for i, point in enumerate(points):
        if point.placed:
            _point(ax, point, free, MARKERS[i % len(MARKERS)], point in best)
    rates(ax, "y")
    ax.set_ylim(_floor(points), 1.02)
    ax.set_yticks(*_tenths(_floor(points)))
    ax.set_xlabel(COSTS[cost][0])
    ax.set_ylabel(label)
    _key(key, points, best)
    return figure


def _floor(points: Sequence[Point]) -> float:
    """Return the tenth below the lowest end of any interval: a position, unlike a bar, needs no zero."""
    ends = [p.quality.low if p.quality.low is not None else p.quality.value for p in points if p.placed]
    return math.floor(10 * min((end for end in ends if end is not None), default=0)) / 10


def _tenths(low: float) -> tuple[list[float], list[str]]:
    ticks = [tenth / 10 for tenth in range(round(10 * low), 11)]
    return ticks, [f"{tick:.1f}" for tick in ticks]


def _log_axis(ax: Axes, points: Sequence[Point], kind: str) -> float:
    """Set the log axis and return where on it a cost of zero is placed."""
    costs = [cost for cost, _ in map(_place, filter(lambda p: p.placed, points)) if cost > 0] or [1.0]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)) + 0.05)
    free = 10.0 ** (low - 1)
    has_free = any(p.placed and p.cost.value == 0 for p in points)
    ax.set_xscale("log")
    ax.set_xlim(10.0 ** (low - (1.5 if has_free else 0.15)), 10.0**high)
    sign = "×" if kind == "ratio" else ""
    every = max(1, (high - low) // 5)
    powers = range(low, high + 1, every)
    ticks, labels = [10.0**power for power in powers], [f"{sign}$10^{{{power}}}$" for power in powers]
    ax.set_xticks(([free] if has_free else []) + ticks, (["0"] if has_free else []) + labels)
    ax.minorticks_off()
    ax.grid(axis="x", color=FAINT, linewidth=0.7)
    if has_free:
        ax.axvline(10.0 ** (low - 0.5), color=SOFT, linewidth=0.7, linestyle=":")
    return free


def _point(ax: Axes, point: Point, free: float, marker: str, best: bool) -> None:
    cost, quality = _place(point)
    x = cost if cost > 0 else free
    if point.quality.low is not None and point.quality.high is not None:
        ax.plot([x, x], [point.quality.low, point.quality.high], color=BLUE if best else SOFT, linewidth=1.3, zorder=2)
    colour = BLUE if best else SOFT
    ax.plot(
        x, quality, marker, markersize=8, color=colour, markerfacecolor=colour if best else "white", mew=1.4, zorder=3
    )


def _key(ax: Axes, points: Sequence[Point], best: Sequence[Point]) -> None:
    """List the auditors by falling quality, each with its marker: names beside points would overlap."""
    ax.axis("off")
    ax.set_xlim(0, 1)
    order = sorted(enumerate(points), key=lambda pair: -(pair[1].quality.value or 0))
    step = min(0.125, 0.98 / max(1, len(points)))
    for line, (i, point) in enumerate(order):
        y = 0.97 - step * line
        colour = BLUE if point in best else SOFT
        if point.placed:
            face = colour if point in best else "white"
            ax.plot(0.06, y, MARKERS[i % len(MARKERS)], markersize=7, color=colour, markerfacecolor=face, mew=1.4)
        missing = "" if point.placed else " (no cost known)" if point.cost.value is None else " (undefined)"
        name = wrapped(point.auditor + missing, 38) + (" †" if point.incomplete else "")
        ax.text(0.12, y, name, va="center", fontsize=8, color=INK, weight="bold" if point in best else "normal")
    ax.set_ylim(min(0.0, 0.97 - step * len(points)), 1.02)
