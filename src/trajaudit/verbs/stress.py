"""``trajaudit stress``: what moves a judge that should not move, and whether its doubt foretells its errors."""

from __future__ import annotations

from pathlib import Path

from trajaudit.config import Choice
from trajaudit.reports import render, write
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import collect, warnings
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats
from trajaudit.verbs.studies import studies


def stress(
    *,
    dataset: Choice,
    stats: Stats,
    paths: Paths,
    name: str | None = None,
    limit: int | None = None,
    results: str | None = None,
) -> int:
    """Compare a judge's wordings, measure what attacks on it do, and test its doubt as a predictor of error.

    ``results`` is a folder that gets the tables as Markdown, to be committed.
    """
    check_stats(stats)
    found = collect(dataset, paths["output_dir"], name, limit)
    tables = studies(found.trajectories, found.verdicts, stats)
    if not tables:
        raise ValueError(
            f"the verdicts on {found.data.name!r} allow no stress test: it takes one judge under two wordings "
            "(judge -m judge=trajel prompt_variant=default,brief), an attacked set (dataset=attacked), or verdicts "
            "with signs of doubt (reply.top_logprobs=10, judge=trajel_self_consistency, judge=panel)"
        )
    config = {"dataset": dataset.config, "stats": stats, "limit": limit}
    with RunFolder.open(
        paths["output_dir"],
        "stress",
        name or found.data.name,
        config,
        data=found.files,
        seeds={"stats": stats["seed"]},
        irrelevant=IRRELEVANT,
    ) as folder:
        for table in tables:
            write(table, folder.path / "tables")
    if results is not None:
        Path(results).mkdir(parents=True, exist_ok=True)
        for table in tables:
            text = render(table, "md")
            (Path(results) / f"{table.key}.md").write_text(text, encoding="utf-8", newline="\n")
    print("\n\n".join([*warnings(found.verdicts), *(render(table, "txt") for table in tables)]))
    print(f"tables: {folder.path / 'tables'}")
    return 0
