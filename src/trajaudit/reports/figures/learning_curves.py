"""Learning curves: AUC by labels of the target, a panel for each detector on each target, a line for each start."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trajaudit.reports.figures.style import BLUE, FAINT, GREEN, ORANGE, SOFT, VERMILION, Drawing, short, styled
from trajaudit.reports.transfer import Point, curve_table

_LINES = ((SOFT, "s", "--"), (BLUE, "o", "-"), (VERMILION, "D", "-"), (GREEN, "^", "-"), (ORANGE, "v", "-"))
"""Colour, marker and dash: the first for no source, the others for sources in alphabetical order."""


def learning_curves(points: Sequence[Point]) -> Drawing:
    """Draw every curve with its intervals; numbers of labels stand at even distances."""
    caption = (
        "Area under the ROC curve on the same runs of the target, by the number of its labels that were learnt from, "
        "from nothing (dashed) or from a source's weights; 95 % intervals by group."
    )
    with styled():
        return Drawing("learning_curves", caption, _figure(points), curve_table(points))


def _figure(points: Sequence[Point]) -> Figure:
    targets = sorted({point.target for point in points})
    detectors = sorted({point.detector for point in points})
    sizes = [size for *_, size in sorted({(point.order[3], point.labels) for point in points}, key=lambda one: one[0])]
    sources = sorted({point.source for point in points if point.source is not None})
    figure = Figure(figsize=(1.2 + 2.1 * len(detectors), 0.9 + 1.9 * len(targets)))
    axes = figure.subplots(len(targets), len(detectors), sharex=True, sharey=True, squeeze=False)
    grid: list[list[Axes]] = axes.tolist()
    for target, row in zip(targets, grid, strict=True):
        for detector, ax in zip(detectors, row, strict=True):
            own = [point for point in points if (point.target, point.detector) == (target, detector)]
            _panel(ax, own, sizes, [None, *sources])
            ax.set_title(f"{short(detector, 18)} on {short(target, 16)}", fontsize=8)
    _edges(figure, grid, sizes)
    lines = _lines(grid)
    figure.legend(
        handles=list(lines.values()),
        labels=list(lines),
        loc="upper center",
        ncols=max(len(lines), 1),
        frameon=False,
        bbox_to_anchor=(0.5, 0.0),
    )
    return figure


def _panel(ax: Axes, own: Sequence[Point], sizes: Sequence[int | None], sources: Sequence[str | None]) -> None:
    ax.axhline(0.5, color=FAINT, linewidth=1)
    for i, source in enumerate(sources):
        line = [point for point in own if point.source == source and point.auc.value is not None]
        if not line:
            continue
        colour, marker, dash = _LINES[i % len(_LINES)]
        at = [sizes.index(point.labels) + 0.08 * i for point in line]
        name = "no source" if source is None else f"from {source}"
        ax.plot(at, [point.auc.value or 0.0 for point in line], dash, color=colour, marker=marker, ms=4, label=name)
        for x, point in zip(at, line, strict=True):
            if point.auc.low is not None and point.auc.high is not None:
                ax.plot([x, x], [point.auc.low, point.auc.high], color=colour, linewidth=1)


def _edges(figure: Figure, grid: Sequence[Sequence[Axes]], sizes: Sequence[int | None]) -> None:
    grid[0][0].set_ylim(0.3, 1.02)
    for ax in grid[-1]:
        ax.set_xticks(range(len(sizes)), ["all" if size is None else str(size) for size in sizes])
    figure.supxlabel("labels of the target", fontsize=8.5, y=0.02)
    figure.supylabel("AUC", fontsize=8.5)


def _lines(grid: Sequence[Sequence[Axes]]) -> dict[str, Artist]:
    """Return one line of each start for the legend, by its name."""
    found: dict[str, Artist] = {}
    for ax in (ax for row in grid for ax in row):
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    return found
