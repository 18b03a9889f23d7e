"""The reproduction ledger: each published figure, ours, its interval, and whether they are the same.

"Same" means that ours, rounded to the digits that were printed, is the printed figure. Papers round halves up or to
even, and some round the binary value and some the decimal one, so any of these counts; nothing wider does: a figure
off by one in its last printed digit differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation

from trajaudit.analysis.result import Estimate
from trajaudit.reports.table import Cell, Column, Row, Table

VERDICTS = ("same", "same under a stated reading", "differs", "not reproducible here")


@dataclass(frozen=True)
class Line:
    """One figure of the ledger: ``published`` is its printed text (null where the paper prints none)."""

    key: str
    published: str | None
    ours: float | None
    estimate: Estimate | None
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.key}: verdict: expected one of {', '.join(VERDICTS)}; got {self.verdict!r}")


def same(published_text: str, ours: float) -> bool:
    """Return whether ``ours`` at the printed digits is the printed figure.

    >>> same("0.429", 3 / 7), same("0.43", 3 / 7), same("0.428", 3 / 7), same("50", 50)
    (True, True, False, True)
    """
    try:
        published = Decimal(published_text.strip())
    except InvalidOperation:
        raise ValueError(f"published figure: expected a decimal number, got {published_text!r}") from None
    digit = Decimal(1).scaleb(int(published.as_tuple().exponent))
    readings = (Decimal(repr(float(ours))), Decimal(ours))
    return any(
        reading.quantize(digit, rounding) == published
        for reading in readings
        for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
    )


def ledger_line(
    key: str, published: str | None, ours: Estimate | float | None, reading: str = "", note: str = ""
) -> Line:
    """Return the ledger line of a figure; ``reading`` states how an ambiguous definition was read to get ours.

    A figure that the paper leaves out (null) is the same as an undefined one of ours.
    """
    estimate = ours if isinstance(ours, Estimate) else None
    value = ours.value if isinstance(ours, Estimate) else ours
    equal = value is None if published is None else value is not None and same(published, value)
    verdict = "differs" if not equal else "same under a stated reading" if reading else "same"
    return Line(key, published, value, estimate, verdict, "; ".join(text for text in (reading, note) if text))


def ledger_table(lines: Iterable[Line], title: str = "Reproduction ledger") -> Table:
    """Return the ledger as a table, from which every format is rendered; its last note is the summary."""
    lines = list(lines)
    columns = (
        Column("figure", "figure", "text"),
        Column("published", "published", "text"),
        Column("ours", "ours", "rate"),
        Column("verdict", "verdict", "text"),
        Column("note", "note", "text"),
    )
    rows = tuple(Row((line.key, line.published, _ours(line), line.verdict, line.note)) for line in lines)
    return Table("ledger", title, columns, rows, notes=(summary(lines),))


def _ours(line: Line) -> Cell:
    return line.estimate if line.estimate is not None else line.ours


def summary(lines: Sequence[Line]) -> str:
    """Return the counts in one sentence.

    >>> summary([ledger_line("f1", "0.800", 0.8), ledger_line("recall", "0.5", 0.9)])
    '2 figures: 1 same, 0 same under a stated reading, 1 differs, 0 not reproducible here.'
    """
    counts = Counter(line.verdict for line in lines)
    return f"{len(lines)} figures: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS) + "."
