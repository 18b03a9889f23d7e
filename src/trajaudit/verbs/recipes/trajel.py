"""Trajel's recipe: the released annotations in; ledger, and how sure the paper's rates are, out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from trajaudit._fields import file_hash
from trajaudit.analysis.rates import RateDifferences, auc_against_chance, rate_differences
from trajaudit.config import experiments_dir
from trajaudit.datasets.trajel import Annotations
from trajaudit.location import COMPONENTS, numbers_after_task
from trajaudit.reports import Column, Line, Row, Table
from trajaudit.reports.figures import co_occurrence, model_profiles, task_positions, type_by_component
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
    sides = sides_of(dataset)
    lines = ledger(yaml.safe_load(path.read_text(encoding="utf-8")), sides, stats["resamples"], stats["seed"])
    return Reproduction(
        lines,
        lint_table(dataset),
        [],
        [draw(sides) for draw in (type_by_component, co_occurrence, model_profiles, task_positions)],
        [
            *open_questions(sides),
            *(_finding(line) for line in lines if line.verdict in ("differs", "same under a stated reading")),
        ],
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


def open_questions(sides: Sides) -> list[str]:
    """Answer what the paper leaves open, in sentences."""
    some = sides.labelled
    models = rate_differences(sides.human[some], _among(sides.model, some), _among(sides.question, some))
    run, kind = np.nonzero(sides.human_types & some[:, None])
    found = rate_differences(
        sides.judge_types[run, kind], [sides.types[i] for i in kind], [sides.question[i] for i in run]
    )
    agreed = np.array([word == "agree" for word in sides.agreement])
    reviewers = rate_differences(agreed, sides.reviewer, sides.question)
    low, high, p = auc_against_chance(0.689, 14, 13)
    return [
        _differ("do the models' hallucination rates differ, paired by question?", models),
        _differ("does the judge find some types less often than others?", found),
        _differ("do the reviewers of the two institutions agree with the judge at different rates?", reviewers),
        f"is the AUC of 0.689 on 27 runs (taken as 14 and 13) distinguishable from 0.5? "
        f"{'yes' if p < 0.05 else 'no'} (p {p:.2g}, [{low:.2f}, {high:.2f}])",
    ]


def _among(values: Sequence[str], mask: np.ndarray) -> list[str]:
    return [value for value, kept in zip(values, mask, strict=True) if kept]


def _differ(question: str, made: RateDifferences) -> str:
    rates = ", ".join(f"{name} {rate:.3f}" for name, rate in sorted(made.rates.items(), key=lambda item: item[1]))
    sure = [f"{p.a} / {p.b} (Holm p {p.p_holm:.2g})" for p in made.pairs if p.p_holm is not None and p.p_holm < 0.05]
    pairs = f"; pairs that survive Holm: {', '.join(sure) or 'none'}" if len(made.pairs) > 1 else ""
    answer = "yes" if made.p_value < 0.05 else "not shown"
    return f"{question} {answer} (p {made.p_value:.2g}, {made.clusters} questions; {rates}{pairs})"


def lint_table(data: Annotations) -> Table:
    """Return what does not fit together in the released table; every row of it is kept."""
    columns = tuple(Column(key, key, "text") for key in ("run", "side", "what", "detail"))
    rows = tuple(Row((lint.uid, lint.side, lint.kind, lint.detail)) for lint in data.lints)
    return Table("lints", "What does not fit together in the annotations (kept as released)", columns, rows)


def _finding(line: Line) -> str:
    ours = "undefined" if line.ours is None else f"{line.ours:.3f}".rstrip("0").rstrip(".")
    return f"{line.key}: printed {line.published}, ours {ours}: {line.verdict}{f' ({line.note})' if line.note else ''}"
