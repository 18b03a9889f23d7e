"""``trajaudit reproduce``: a paper's printed figures beside ours, and how sure each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trajaudit.config import Choice
from trajaudit.reports import Line, Table, ledger_table, render, summary, write
from trajaudit.reports.figures import Drawing, save
from trajaudit.runs import RunFolder
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats


@dataclass(frozen=True)
class Reproduction:
    """What a recipe gives: a paper's ledger and what it left open (``claims``), further tables, figures.

    An experiment of our own has no ledger; its ``claims`` are the goals it was set. ``findings`` are the claims in
    sentences; ``files`` are what was read, by SHA-256.
    """

    lines: list[Line]
    claims: Table
    tables: list[Table]
    figures: list[Drawing]
    findings: list[str]
    files: dict[str, str]


def reproduce(
    *, recipe: Choice, dataset: Choice, stats: Stats, paths: Paths, name: str, results: str | None = None
) -> int:
    """Rebuild a paper's printed figures from its released data; exit status 1 on any unexplained difference."""
    check_stats(stats)
    made: Reproduction = recipe.build(dataset=dataset.build(), stats=stats)
    config = {"recipe": recipe.config, "dataset": dataset.config, "stats": stats}
    shown = [*([ledger_table(made.lines)] if made.lines else []), made.claims]
    with RunFolder.open(
        paths["output_dir"], "reproduce", name, config, data=made.files, irrelevant=(*IRRELEVANT, "recipe.data_dir")
    ) as folder:
        where = folder.path
        for table in (*shown, *made.tables):
            write(table, where / "tables")
        for drawing in made.figures:
            save(drawing, where / "figures")
    if results is not None:
        _commit([*shown, *made.tables], made, Path(results))
    for table in shown:
        print(render(table, "txt"))
    print("Findings:")
    for finding in made.findings:
        print(f"- {finding}")
    print(f"\ntables and figures: {where}")
    if made.lines:
        print(summary(made.lines))
    return int(any(line.verdict == "differs" and not line.note for line in made.lines))


def _commit(tables: list[Table], made: Reproduction, folder: Path) -> None:
    """Write what is worth committing: tables and findings as Markdown, figures as PNG with their data."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "findings.md").write_text(
        "".join(f"- {text}\n" for text in made.findings), encoding="utf-8", newline="\n"
    )
    for table in tables:
        (folder / f"{table.key}.md").write_text(render(table, "md"), encoding="utf-8", newline="\n")
    for drawing in made.figures:
        for path in save(drawing, folder / "figures"):
            if path.suffix not in (".png", ".csv"):
                path.unlink()
