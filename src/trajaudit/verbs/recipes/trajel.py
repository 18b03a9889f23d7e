"""Trajel's recipe: the released annotations in; ledger, and how sure the paper's rates are, out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from trajaudit._fields import file_hash
from trajaudit.config import experiments_dir
from trajaudit.datasets.trajel import Annotations
from trajaudit.datasets.trajel_location import COMPONENTS, numbers_after_task
from trajaudit.reports import Column, Line, Row, Table
from trajaudit.reports.trajel import Sides, ledger
from trajaudit.taxonomy import TRAJEL
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats


def trajel(*, dataset: Annotations, stats: Stats, figures: str | None = None) -> Reproduction:
    """Rebuild the tables of Trajel that its annotations give.

    Args:
        figures: the published figures; the file that ships with trajaudit where null.
    """
    path = Path(figures) if figures else experiments_dir() / "trajel" / "published.yaml"
    lines = ledger(
        yaml.safe_load(path.read_text(encoding="utf-8")), sides_of(dataset), stats["resamples"], stats["seed"]
    )
    return Reproduction(
        lines,
        lint_table(dataset),
        [],
        [],
        [_finding(line) for line in lines if line.verdict in ("differs", "same under a stated reading")],
        {**dataset.files, path.name: file_hash(path)},
    )


def sides_of(data: Annotations) -> Sides:
    """Return the annotations as arrays."""
    rows, types = data.rows, TRAJEL.types

    def matrix(side: str) -> np.ndarray:
        return np.array([[name in getattr(row, side).types for name in types] for row in rows])

    return Sides(
        types,
        np.array([row.judge.hallucinates is True for row in rows]),
        np.array([row.human.hallucinates is True for row in rows]),
        np.array([row.human.hallucinates is not None for row in rows]),
        matrix("judge"),
        matrix("human"),
        tuple(row.model for row in rows),
        tuple(row.question for row in rows),
        tuple(row.reviewer for row in rows),
        tuple(row.agreement for row in rows),
        tuple(frozenset(place.component for place in row.human.places if place.component) for row in rows),
        tuple(frozenset(word for word in COMPONENTS if word in row.human.location.lower()) for row in rows),
        tuple(frozenset(place.task for place in row.human.places if place.task) for row in rows),
        tuple(tuple(numbers_after_task(row.human.location)) for row in rows),
    )


def lint_table(data: Annotations) -> Table:
    """Return what does not fit together in the released table; every row of it is kept."""
    columns = tuple(Column(key, key, "text") for key in ("run", "side", "what", "detail"))
    rows = tuple(Row((lint.uid, lint.side, lint.kind, lint.detail)) for lint in data.lints)
    return Table("lints", "What does not fit together in the annotations (kept as released)", columns, rows)


def _finding(line: Line) -> str:
    ours = "undefined" if line.ours is None else f"{line.ours:.3f}".rstrip("0").rstrip(".")
    return f"{line.key}: printed {line.published}, ours {ours}: {line.verdict}{f' ({line.note})' if line.note else ''}"
