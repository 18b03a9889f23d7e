"""``trajaudit reproduce``: a paper's printed figures beside ours, and how sure each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trajaudit.analysis.result import Comparison
from trajaudit.config import Choice
from trajaudit.reports import Line, Table, ledger_table, render, summary, write
from trajaudit.runs import RunFolder
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats


@dataclass(frozen=True)
class Reproduction:
    """What a paper's recipe gives: the ledger, tables beyond it, and sentences on what the paper left open."""

    lines: list[Line]
    tables: list[Table]
    findings: list[str]
    files: dict[str, str]
    comparisons: list[Comparison]


Recipe = Callable[..., Reproduction]


def reproduce(
    *, recipe: Choice, dataset: Choice, stats: Stats, paths: Paths, name: str, results: str | None = None
) -> int:
    """Rebuild a paper's printed figures from its released data and compare; exit status 1 on any difference."""
    check_stats(stats)
    made: Reproduction = recipe.build(dataset=dataset.build(), stats=stats)
    config = {"recipe": recipe.config, "dataset": dataset.config, "stats": stats}
    tables = [ledger_table(made.lines), *made.tables]
    with RunFolder.open(
        paths["output_dir"], "reproduce", name, config, data=made.files, irrelevant=(*IRRELEVANT, "recipe.data_dir")
    ) as folder:
        for table in tables:
            write(table, folder.path / "tables")
            if results is not None:
                write(table, Path(results))
        where = folder.path
    for table in (tables[0], tables[-1]):
        print(render(table, "txt"))
    for finding in made.findings:
        print(f"- {finding}")
    print(f"\ntables: {where / 'tables'}")
    print(summary(made.lines))
    return int(any(line.verdict == "differs" for line in made.lines))
