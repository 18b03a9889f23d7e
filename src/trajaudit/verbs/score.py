"""``trajaudit score``: what the stored verdicts are worth, as tables."""

from __future__ import annotations

from trajaudit.config import Choice
from trajaudit.reports import Part, metrics_json, part_tables, render, write
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import collect, warnings
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats, origin_notes, scored


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
    config = {"dataset": dataset.config, "stats": stats, "limit": limit, "verdicts": verdicts}
    with RunFolder.open(
        paths["output_dir"],
        "score",
        name or found.data.name,
        config,
        data=found.files,
        seeds={"stats": stats["seed"]},
        irrelevant=IRRELEVANT,
        outputs=("summary.txt", "metrics.json"),
    ) as folder:
        if folder.done:
            print((folder.path / "summary.txt").read_text())
            print(f"already done: {folder.path}")
            return 0
        cards, comparisons = scored(found, stats)
        part = Part("all", found.data.name, found.trajectories, found.verdicts, cards, comparisons)
        tables = part_tables(part)
        for table in tables.values():
            write(table, folder.path / "tables")
        notes = [*origin_notes(found.trajectories), *warnings(found.verdicts)]
        shown = "\n\n".join([*notes, render(tables["summary"], "txt")])
        (folder.path / "metrics.json").write_text(metrics_json(found.data.name, [], [part], notes))
        (folder.path / "summary.txt").write_text(shown)
        print(shown)
        print(f"all tables: {folder.path / 'tables'}")
    return 0
