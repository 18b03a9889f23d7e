"""How every figure looks, and how it is saved: PDF and PNG with the numbers behind it as CSV and JSON.

Colours are Okabe and Ito's, which colour-blind readers tell apart; nothing is told by colour alone (markers, hatches
and printed numbers say the same), so a greyscale print loses nothing. Files hold no date and no version, so the same
numbers give the same bytes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trajaudit.reports.formats import render
from trajaudit.reports.table import Table

BLUE, ORANGE, VERMILION, GREEN, PURPLE = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7"
INK, SOFT, FAINT = "#1a1a1a", "#5f6368", "#e3e5e8"
MARKERS = "oDs^vP*Xhd<>"
STYLE: Mapping[str, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Drawing:
    """A drawn figure: ``table`` holds the numbers behind it, ``caption`` says in words what it shows."""

    key: str
    caption: str
    figure: Figure
    table: Table


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the common style, whatever the caller's matplotlib settings are, and leave those alone."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type]
        yield


def save(drawing: Drawing, folder: str | Path, stem: str | None = None) -> list[Path]:
    """Write ``folder/stem.{pdf,png,csv,json}``; the stem defaults to the figure's key."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / (stem or drawing.key)
    paths = [base.with_name(f"{base.name}.{fmt}") for fmt in ("pdf", "png", "csv", "json")]
    with styled():
        drawing.figure.savefig(
            paths[0], bbox_inches="tight", metadata={"CreationDate": None, "Producer": None, "Creator": None}
        )
        drawing.figure.savefig(paths[1], bbox_inches="tight", dpi=200, metadata={"Software": None})
    for path in paths[2:]:
        path.write_text(render(drawing.table, path.suffix[1:]), encoding="utf-8", newline="\n")
    return paths


def wrapped(name: str, width: int = 26, most: int = 4) -> str:
    """Return a name in at most ``most`` lines of ``width`` characters, broken at its own separators where it can be.

    >>> wrapped("selfcons3:qwen2.5:14b-instruct-q4_K_M")
    'selfcons3:qwen2.5:14b-\\ninstruct-q4_K_M'
    """
    clean = literal(name, dollars=False)
    spaced = re.sub(r"(?<=[:/,+ ])|(?<=[-_])(?!\d)", "\0", clean)
    lines, line = [], ""
    for part in spaced.split("\0"):
        if line and len(line) + len(part.rstrip()) > width:
            lines.append(line)
            line = ""
        line += part
    lines.append(line)
    hard = [piece for text in lines for piece in textwrap.wrap(text, width) or [""]]
    cut = [*hard[: most - 1], "…"] if len(hard) > most else hard
    return "\n".join(cut).replace("$", r"\$")


def short(name: str, width: int = 28) -> str:
    """Return a name for an axis on one line, cut with a mark where it is longer than ``width`` characters."""
    return literal(name if len(name) <= width else f"{name[: width - 1]}…")


def literal(text: str, dollars: bool = True) -> str:
    """Return text that matplotlib prints as it is: no mathematics between dollars, no control characters."""
    clean = "".join(char if char.isprintable() else "�" for char in text)
    return clean.replace("$", r"\$") if dollars else clean


def rates(ax: Axes, axis: str = "x") -> None:
    """Set an axis of ``ax`` to rates from 0 to 1 with a light grid."""
    setter = ax.set_xlim if axis == "x" else ax.set_ylim
    setter(-0.02, 1.02)
    getattr(ax, f"set_{axis}ticks")([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".50", ".75", "1"])
    ax.grid(axis=axis, color=FAINT, linewidth=0.7)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
