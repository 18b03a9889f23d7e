"""One table, from which Markdown, LaTeX, CSV, JSON, plain text and the page are all rendered.

A cell is a text, a number or an ``Estimate``. What is printed (digits, dashes, footnotes, the denominator line) is
decided once, in ``lay_out``, so that no format can say less than another. A row with a reason in ``incomplete`` was
measured on other items than its neighbours: it is marked, and whoever ranks rows leaves it out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from trajaudit.analysis.result import CONVENTIONS, Denominator, Estimate
from trajaudit.reports.numbers import KINDS, denominator_line, interval

Cell = str | int | float | None | Estimate

CONVENTION_LINES = {
    "published": "Convention published: a verdict without an opinion counts as clean at confidence 0.5.",
    "answered": "Convention answered: items without an opinion are left out of the estimate.",
}


@dataclass(frozen=True)
class Column:
    """A column: ``key`` names it in CSV and JSON, ``header`` in print; ``kind`` is "text" or one of numbers.KINDS."""

    key: str
    header: str
    kind: str = "rate"

    def __post_init__(self) -> None:
        if self.kind != "text" and self.kind not in KINDS:
            raise ValueError(
                f"column {self.key!r}: kind: expected text or one of {', '.join(KINDS)}, got {self.kind!r}"
            )


@dataclass(frozen=True)
class Row:
    """A row of cells; ``incomplete`` says why it cannot be compared with the others."""

    cells: tuple[Cell, ...]
    incomplete: str | None = None


@dataclass(frozen=True)
class Table:
    """A titled table. ``key`` names its files; ``denominators`` maps an auditor to who is counted for it.

    >>> Table("t", "T", (Column("a", "A"),), (Row((1, 2)),))
    Traceback (most recent call last):
    ...
    ValueError: table 't': row 0: expected 1 cells (a), got 2
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    denominators: Mapping[str, Denominator] = field(default_factory=dict)
    convention: str | None = None

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row.cells) != len(self.columns):
                keys = ", ".join(column.key for column in self.columns)
                raise ValueError(
                    f"table {self.key!r}: row {i}: expected {len(self.columns)} cells ({keys}), got {len(row.cells)}"
                )
            for column, cell in zip(self.columns, row.cells, strict=True):
                _check_finite(cell, f"table {self.key!r}: row {i}: {column.key}")
        if self.convention is not None and self.convention not in CONVENTIONS:
            raise ValueError(f"table {self.key!r}: convention: expected one of {CONVENTIONS}, got {self.convention!r}")


def _check_finite(cell: Cell, where: str) -> None:
    """Refuse NaN and infinity: an undefined value is None with its reason."""
    values = (cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else (cell,)
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{where}: expected a finite number, or None with a reason; got {value}")


@dataclass(frozen=True)
class PrintedCell:
    """What a reader sees of a cell: its text, its interval, the mark of a footnote, and the number to sort by."""

    text: str
    interval: str = ""
    mark: str = ""
    number: float | None = None

    @property
    def plain(self) -> str:
        return f"{self.text}{f' {self.interval}' if self.interval else ''}{f' ({self.mark})' if self.mark else ''}"


@dataclass(frozen=True)
class Layout:
    """A table as it is printed: rows of printed cells, the footnotes by mark, and the lines below the table."""

    rows: tuple[tuple[PrintedCell, ...], ...]
    footnotes: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def lay_out(table: Table) -> Layout:
    """Return the table as printed text, every dash with a footnote that says why the value is undefined."""
    marks: dict[str, str] = {}
    rows = tuple(_row(row, table.columns, marks) for row in table.rows)
    footnotes = tuple((mark, reason) for reason, mark in marks.items())
    return Layout(rows, footnotes, tuple(_lines(table)))


def _mark(reason: str, marks: dict[str, str]) -> str:
    """Return the letter of a reason, the next free one where it is new: a to z, then aa, ab …"""
    if reason not in marks:
        n = len(marks)
        marks[reason] = ("" if n < 26 else chr(96 + n // 26)) + chr(97 + n % 26)
    return marks[reason]


def _row(row: Row, columns: tuple[Column, ...], marks: dict[str, str]) -> tuple[PrintedCell, ...]:
    cells = [_cell(cell, column.kind, marks) for cell, column in zip(row.cells, columns, strict=True)]
    if row.incomplete is not None:
        mark = _mark(f"not ranked: {row.incomplete}", marks)
        cells[0] = PrintedCell(f"{cells[0].text} †", mark=mark, number=cells[0].number)
    return tuple(cells)


def _cell(cell: Cell, kind: str, marks: dict[str, str]) -> PrintedCell:
    if isinstance(cell, Estimate):
        if cell.value is None:
            return PrintedCell("—", mark=_mark(cell.reason or "undefined", marks))
        return PrintedCell(KINDS[kind](cell.value), interval(cell, kind), number=float(cell.value))
    if cell is None:
        return PrintedCell("—")
    if isinstance(cell, str):
        return PrintedCell(cell)
    return PrintedCell(KINDS[kind](cell), number=float(cell))


def _lines(table: Table) -> list[str]:
    """Return the notes, how the intervals were made, the convention, and the denominators, a line each."""
    lines = list(table.notes)
    cells = [cell for row in table.rows for cell in row.cells if isinstance(cell, Estimate) and cell.low is not None]
    if cells:
        levels = ", ".join(sorted({f"{100 * cell.level:g} %" for cell in cells}))
        methods = ", ".join(sorted({cell.method for cell in cells if cell.method}))
        lines.append(f"In brackets: {levels} intervals{f' ({methods})' if methods else ''}.")
    if table.convention is not None:
        lines.append(CONVENTION_LINES[table.convention])
    return lines + _denominators(table.denominators)


def _denominators(denominators: Mapping[str, Denominator]) -> list[str]:
    """Return a line for each set of auditors that agree; the largest set comes last, as "every other auditor"."""
    groups: dict[str, list[str]] = {}
    for auditor, denominator in denominators.items():
        groups.setdefault(denominator_line(denominator), []).append(auditor)
    *special, most = sorted(groups.items(), key=lambda group: len(group[1])) or [("", [])]
    lines = [f"Items of {', '.join(names)}: {line}." for line, names in special]
    line, names = most
    if not special:
        return [f"Items: {line}{' (every auditor)' if len(names) > 1 else ''}."] if names else []
    return [*lines, f"Items of {'every other auditor' if len(names) > 1 else names[0]}: {line}."]
