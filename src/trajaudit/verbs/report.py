"""``trajaudit report``: one HTML page with the tables, the figures and a viewer of every trajectory.

A page can hold several sets, each with its own scorecards (``report.parts``): a prefix that a slow judge has read, or
the published set beside one's own. A part marked ``optional`` is left out where its data is not at hand, and the page
says so.
"""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from trajaudit.config import Choice, validate
from trajaudit.reports import Part, build_report
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import Collected, collect, warnings
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats, origin_notes, scored
from trajaudit.verbs.studies import studies


class PartConfig(TypedDict):
    """A set of trajectories: which dataset, the runs over it (``name``), how much of it, what the page says of it."""

    title: str
    dataset: NotRequired[dict[str, Any]]
    name: NotRequired[str | None]
    limit: NotRequired[int | None]
    lead: NotRequired[str]
    reference: NotRequired[str]
    optional: NotRequired[bool]


class ReportConfig(TypedDict):
    """``title`` and ``notes`` of the page, and its parts; a part without a dataset is about the command's own."""

    title: str | None
    notes: list[str]
    max_embedded: int
    parts: dict[str, PartConfig]


def report(
    *,
    dataset: Choice,
    stats: Stats,
    report: ReportConfig,
    paths: Paths,
    name: str | None = None,
    limit: int | None = None,
) -> int:
    """Write one HTML page: tables, figures, and a viewer that opens any trajectory with every verdict beside it."""
    check_stats(stats)
    if report["max_embedded"] < 1:
        raise ValueError(f"report.max_embedded: expected at least 1, got {report['max_embedded']}")
    configs = report["parts"] or {"all": PartConfig(title="Results")}
    notes = list(report["notes"])
    found = {}
    for key, config in configs.items():
        try:
            found[key] = _collect(key, config, dataset, paths["output_dir"], name, limit)
        except FileNotFoundError as error:
            if not config.get("optional"):
                raise
            notes.append(f"Left out: {config['title']} ({error}).")
    files = {path: sha for one in found.values() for path, sha in one.files.items()}
    own = {"dataset": dataset.config, "stats": stats, "report": report, "limit": limit}
    folder_name = name or next(iter(found.values())).data.name
    with RunFolder.open(
        paths["output_dir"],
        "report",
        folder_name,
        own,
        data=files,
        seeds={"stats": stats["seed"]},
        irrelevant=IRRELEVANT,
        outputs=("report.html",),
    ) as folder:
        page = folder.path / "report.html"
        if not folder.done:
            parts = [_part(key, configs[key], one, stats) for key, one in found.items()]
            known = origin_notes(run for part in parts for run in part.trajectories)
            notes = [*known, *warnings(verdict for part in parts for verdict in part.verdicts), *notes]
            title = report["title"] or f"Who finds the faults in {folder_name}?"
            build_report(folder.path, title=title, parts=parts, notes=notes, max_embedded=report["max_embedded"])
        print(f"report: {page.resolve()}")
    return 0


def _collect(
    key: str, config: PartConfig, dataset: Choice, output_dir: str, name: str | None, limit: int | None
) -> Collected:
    chosen = dataset
    if (own := config.get("dataset")) is not None:
        validate(own, f"report.parts.{key}.dataset")
        chosen = Choice(f"report.parts.{key}.dataset", own)
    return collect(chosen, output_dir, config.get("name", name), config.get("limit", limit))


def _part(key: str, config: PartConfig, found: Collected, stats: Stats) -> Part:
    told = stats.copy()
    told["reference"] = config.get("reference", stats["reference"])
    labelled = any(run.label is not None for run in found.trajectories)
    cards, comparisons = scored(found, told) if labelled else ([], [])
    lead, tables = config.get("lead", ""), studies(found.trajectories, found.verdicts, stats)
    return Part(key, config["title"], found.trajectories, found.verdicts, cards, comparisons, lead, tables)
