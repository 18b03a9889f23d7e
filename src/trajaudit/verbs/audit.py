"""``trajaudit audit``: one's own traces in, the runs to read first out; no key, no label, no model that costs money.

Which auditors read a run follows from the tools that it calls (`trajaudit.verbs.domains`). Every verdict is stored the
moment it is there, so a killed audit resumes, and what is asked again later is only what has changed. Labels, where
traces have any, are not looked at: `trajaudit score` is for those.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Json, file_hash
from trajaudit.auditor import spec_hash
from trajaudit.config import Choice, ConfigError
from trajaudit.dataset import Receipt
from trajaudit.datasets.traces import read_traces
from trajaudit.reports import Part, build_report, render
from trajaudit.reports.suspects import ranked, suspects_table
from trajaudit.runs import RunFolder, Summary, VerdictStore, audit, final_verdicts, interruptible
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.auditors import Plan, planned
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.domains import by_domain
from trajaudit.verbs.judge import content_of
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verdict import Verdict

IN_FLIGHT = 32
"""Runs that are read together; an encoder reads many at once faster than one by one."""
SHOWN_PROBLEMS = 5


def audit_traces(
    *,
    paths: Paths,
    traces: str | None = None,
    dataset: Choice | None = None,
    auditors: list[str] | None = None,
    domain: str | None = None,
    show: int = 10,
    max_embedded: int = 2000,
    name: str | None = None,
    limit: int | None = None,
) -> int:
    """Audit one's own traces without a language model: a table of the most suspicious runs, and a page to read them."""
    for key, value in (("show", show), ("max_embedded", max_embedded), ("limit", limit)):
        if value is not None and value < 1:
            raise ConfigError(f"{key}: expected at least 1, got {value}")
    runs, receipt, files, called = _read(traces, dataset)
    runs = [replace(run, label=None) for run in runs[:limit]]
    for note in receipt.notes[:SHOWN_PROBLEMS]:
        print(f"left out: {note}", file=sys.stderr)
    groups = by_domain(runs, domain)
    plan = planned(list(groups.values()), auditors)
    specs = {f"{judge.name} {spec_hash(judge.spec)[:8]}": spec_hash(judge.spec) for judge, _ in plan}
    config: dict[str, Json] = {"dataset": None if dataset is None else dataset.config, "auditors": auditors}
    config |= {"domain": domain, "limit": limit, "max_embedded": max_embedded}
    with RunFolder.open(
        paths["output_dir"],
        "audit",
        name or called,
        config,
        data={**files, "items": content_of(runs), **specs},
        irrelevant=IRRELEVANT,
        outputs=("verdicts.jsonl", "report.html"),
    ) as folder:
        stored, page = folder.path / "verdicts.jsonl", folder.path / "report.html"
        left: list[str] = []
        if not folder.done:
            folder.note("auditors", specs)
            folder.note("domains", {key: len(own) for key, (_, own) in groups.items()})
            summaries = interruptible(_all(plan, stored))
            for summary in summaries:
                print(summary.line())
            left = [summary.line() for summary in summaries if not summary.complete]
            if left:
                folder.fail("; ".join(left))
        verdicts = _current(stored, runs, set(specs.values()))
        suspects = ranked(runs, verdicts)
        table = suspects_table(suspects, show)
        if not folder.done:
            everything = suspects_table(suspects, len(runs))
            first = [one.run for one in suspects]
            part = Part("all", called, first, verdicts, [], studies=[everything])
            build_report(
                folder.path,
                title=f"Which runs of {called} to read first",
                parts=[part],
                notes=_notes(receipt, {key: len(own) for key, (_, own) in groups.items()}),
                max_embedded=max_embedded,
            )
        print(render(table, "txt"))
        print(f"\nverdicts: {stored}\npage: {page.resolve()}")
        return int(bool(left))


def _read(traces: str | None, dataset: Choice | None) -> tuple[list[Trajectory], Receipt, dict[str, str], str]:
    """Return the runs, what was left out of them, the files that were read by SHA-256, and what to call the set."""
    if (traces is None) == (dataset is None):
        raise ConfigError("traces: expected a file of traces, or a dataset (dataset=assetops_runs), and not both")
    if dataset is not None:
        data = dataset_of(dataset)
        return list(data), data.receipt, dict(data.files), data.name
    runs, receipt = read_traces(str(traces))
    called = "".join(letter if letter.isalnum() else "-" for letter in Path(str(traces)).name.split(".")[0]).strip("-")
    return runs, receipt, {"traces": file_hash(str(traces))}, called or "traces"


async def _all(plan: Plan, stored: Path) -> list[Summary]:
    with VerdictStore(stored) as store:
        return [await audit(judge, runs, store, concurrency=IN_FLIGHT) for judge, runs in plan]


def _current(stored: Path, runs: Sequence[Trajectory], specs: set[str]) -> list[Verdict]:
    """Return the stored verdicts by these auditors on the runs as they are now."""
    hashes = {run.id: run.content_hash for run in runs}
    return [v for v in final_verdicts(stored) if v.spec_hash in specs and hashes.get(v.trajectory_id) == v.content_hash]


def _notes(receipt: Receipt, domains: dict[str, int]) -> list[str]:
    """Return what a reader must know first: what could not be read, and what runs were taken for."""
    known = ", ".join(f"{count} of {name}" for name, count in domains.items())
    notes = [f"Runs by the tools that they call: {known}. Of a domain that is not known only the claims are checked."]
    if receipt.dropped:
        shown = "; ".join(receipt.notes[:SHOWN_PROBLEMS])
        notes.append(f"Left out: {sum(receipt.dropped.values())} of {receipt.read} lines. {shown}.")
    return notes
