"""``trajaudit adapters``: what is fitted, how large it is, and how it did where it was trained and elsewhere."""

from __future__ import annotations

from pathlib import Path

from trajaudit._fields import Json
from trajaudit.detectors.adapters import CARD, FACTS, Adapter, read, shipped
from trajaudit.reports import Column, Row, Table, render
from trajaudit.verbs.paths import Paths

COLUMNS = (
    *(Column("name", "name", "text"), Column("kind", "kind", "text"), Column("knows", "knows", "text")),
    *(Column("trained_on", "trained on", "text"), Column("kb", "KB", "count"), Column("figures", "AUC (n)", "text")),
)
"""Of a model of entailment the last column holds accuracies on pairs."""


def adapters(*, paths: Paths, show: str | None = None) -> int:
    """List the adapters that ship and those that `fit` has left, with sizes and figures; show=NAME prints a card."""
    if show is not None:
        print((read(show).folder / CARD).read_text(encoding="utf-8"))
        return 0
    own = sorted(path.parent for path in Path(paths["output_dir"]).glob(f"fit/*/*/*/{FACTS}"))
    rows = [*(_row(one, one.name) for one in shipped()), *(_row(read(folder), str(folder)) for folder in own)]
    print(render(Table("adapters", "What is fitted", COLUMNS, tuple(rows)), "txt"))
    return 0


def _row(adapter: Adapter, name: str) -> Row:
    facts = adapter.facts
    knows = facts.domain or facts.taxonomy or "any domain"
    figures = "; ".join(_figure(one) for one in facts.figures)
    kind = facts.detector if facts.kind == "detector" else facts.kind
    return Row((name, kind, knows, str(facts.trained_on["name"]), round(adapter.size / 1024), figures))


def _figure(one: Json) -> str:
    key = "accuracy" if "accuracy" in one["metrics"] else "roc_auc"
    value = one["metrics"][key]["value"]
    said = "undefined" if value is None else f"{value:.3f}"
    return f"{one['set']} {said} ({one.get('runs', one.get('pairs'))})"
