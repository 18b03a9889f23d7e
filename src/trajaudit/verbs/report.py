"""``trajaudit report``: one HTML page with the tables, the figures and a viewer of every trajectory.

A page can hold several sets, each with its own scorecards (``report.parts``): a prefix that a slow judge has read, or
the published set beside one's own. A part marked ``optional`` is left out where its data is not at hand, and the page
says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NotRequired

from typing_extensions import TypedDict

from trajaudit.config import Choice, validate
from trajaudit.reports import Part, build_report
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import Collected, collect
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats, scored


class PartConfig(TypedDict):
    """A set of trajectories: which dataset, the runs over it (``name``), how much of it, what the page says of it.

    ``without`` leaves out auditors whose name starts so: those that have read only a part of the set.
    """

    title: str
    dataset: NotRequired[dict[str, Any]]
    name: NotRequired[str | None]
    limit: NotRequired[int | None]
    lead: NotRequired[str]
    reference: NotRequired[str]
    without: NotRequired[list[str]]
    optional: NotRequired[bool]


class ReportConfig(TypedDict):
    """``title`` and ``notes`` of the page, and its parts; a part without a dataset is about the command's own."""

    title: str | None
    notes: list[str]
    max_embedded: int
    parts: dict[str, PartConfig]


NEAR_CHANCE = (
    "The embedded model has 135 million parameters and judges near chance. It is there so that the whole pipeline runs "
    "on a laptop; its verdicts say nothing about what a capable judge would find."
)


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
    with RunFolder.open(paths["output_dir"], "report", folder_name, own, data=files, irrelevant=IRRELEVANT) as folder:
        page = folder.path / "report.html"
        if not folder.done:
            parts = [_part(key, configs[key], one, stats) for key, one in found.items()]
            if any(
                verdict.auditor.endswith("SmolLM2-135M-Instruct.Q4_1") for part in parts for verdict in part.verdicts
            ):
                notes.insert(0, NEAR_CHANCE)
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
    found = collect(chosen, output_dir, config.get("name", name), config.get("limit", limit))
    left_out = tuple(config.get("without", ()))
    return replace(found, verdicts=[verdict for verdict in found.verdicts if not verdict.auditor.startswith(left_out)])


def _part(key: str, config: PartConfig, found: Collected, stats: Stats) -> Part:
    told = stats.copy()
    told["reference"] = config.get("reference", stats["reference"])
    cards, comparisons = scored(found, told)
    return Part(key, config["title"], found.trajectories, found.verdicts, cards, comparisons, config.get("lead", ""))
