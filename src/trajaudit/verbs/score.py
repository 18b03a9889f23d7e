"""``trajaudit score``: what the stored verdicts are worth, as tables."""

from __future__ import annotations

from trajaudit.analysis import CONVENTIONS
from trajaudit.config import Choice
from trajaudit.reports import comparison_table, denominator_table, render, scorecard_tables, write
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import collect
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats, scored


def score(
    *,
    dataset: Choice,
    stats: Stats,
    paths: Paths,
    name: str | None = None,
    limit: int | None = None,
    verdicts: list[str] | None = None,
) -> int:
    """Score the stored verdicts on a dataset: detection, localisation, typing, calibration and cost, with intervals."""
    check_stats(stats)
    found = collect(dataset, paths["output_dir"], name, limit, verdicts)
    config = {"dataset": dataset.config, "stats": stats, "limit": limit}
    with RunFolder.open(
        paths["output_dir"],
        "score",
        name or found.data.name,
        config,
        data=found.files,
        seeds={"stats": stats["seed"]},
        irrelevant=IRRELEVANT,
    ) as folder:
        if folder.done:
            print((folder.path / "summary.txt").read_text())
            print(f"already done: {folder.path}")
            return 0
        cards, comparisons = scored(found, stats)
        first = [card for card in cards if card.convention == CONVENTIONS[0]]
        tables = [*scorecard_tables(first), denominator_table(cards)]
        if comparisons:
            tables.append(comparison_table(comparisons))
        for table in tables:
            write(table, folder.path / "tables")
        shown = render(tables[0], "txt")
        (folder.path / "summary.txt").write_text(shown)
        print(shown)
        print(f"all tables: {folder.path / 'tables'}")
    return 0
