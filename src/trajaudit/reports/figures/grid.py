"""The cells of a heat map. Every cell prints its number, so that shade only guides the eye.

An undefined cell is hatched, not pale, since pale would read as zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from trajaudit.reports.figures.style import FAINT, INK

SHADES = colormaps["Blues"]
ALARMS = colormaps["Oranges"]


def cell(ax: Axes, x: float, y: float, shade: float | None, text: str, colours: object = SHADES) -> None:
    """Draw a unit cell centred at (x, y): ``shade`` in [0, 1], or hatched where it is None."""
    if shade is None:
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", edgecolor=FAINT, hatch="////", linewidth=0))
    else:
        colour = colours(0.04 + 0.82 * shade)  # type: ignore[operator]
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.2))
    ink = "white" if shade is not None and shade > 0.6 else INK
    ax.text(x, y, text, ha="center", va="center", fontsize=8, color=ink)


def frame(ax: Axes, xs: Sequence[float], labels: Sequence[str], names: Sequence[str]) -> None:
    """Label a grid of cells: columns on top, rows at the left, no axes."""
    ax.set_xlim(-0.5, xs[-1] + 0.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.xaxis.tick_top()
    ax.set_xticks(list(xs), labels, fontsize=7.5, linespacing=1.15, va="baseline")
    ax.set_yticks(range(len(names)), names, fontsize=8.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
