"""``trajaudit generate``: write a dataset's trajectories as JSONL, and say what their surface gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trajaudit.analysis.result import Estimate
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.reports import Column, Row, Table, render, write
from trajaudit.runs import RunFolder, progress_bar
from trajaudit.testbeds.probes import PROBES, ProbeResult, probe
from trajaudit.trajectory import STRATA, Trajectory, write_jsonl
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.paths import IRRELEVANT, Paths


def generate(*, dataset: Choice, paths: Paths, name: str | None = None, probes: bool = False) -> int:
    """Write a dataset's labelled trajectories as JSONL, streaming, with leak probes on request."""
    data = dataset_of(dataset)
    config = {"dataset": dataset.config, "probes": probes}
    seeds = {"dataset": dataset.config.get("seed")}
    with RunFolder.open(
        paths["output_dir"],
        "generate",
        name or data.name,
        config,
        data=data.files,
        seeds=seeds,
        irrelevant=IRRELEVANT,
        outputs=("trajectories.jsonl",),
    ) as folder:
        out = folder.path / "trajectories.jsonl"
        if folder.done:
            print(f"already done: {out}")
            return 0
        strata: Counter[str] = Counter()
        write_jsonl(out, _counted(data, strata))
        if probes:
            _report_probes(data, folder)
        write_jsonl(folder.path / "receipt.json", [data.receipt])
        print(f"{sum(strata.values())} trajectories ({_shares(strata)}): {out}")
    return 0


def _counted(data: Dataset, strata: Counter[str]) -> Iterator[Trajectory]:
    bar = progress_bar(f"generate {data.name}", data.size)
    try:
        for trajectory in data:
            strata[trajectory.label.stratum if trajectory.label else "unlabelled"] += 1
            bar.update()
            yield trajectory
    finally:
        bar.close()


def _shares(strata: Counter[str]) -> str:
    return ", ".join(f"{strata[name]} {name}" for name in (*STRATA, "unlabelled") if strata[name])


def _report_probes(data: Dataset, folder: RunFolder) -> None:
    runs, results = list(data), []
    bar = progress_bar("leak probes", len(PROBES))
    try:
        for name in PROBES:
            results += probe(runs, (name,))
            bar.update()
    finally:
        bar.close()
    table = probe_table(results)
    write(table, folder.path / "probes")
    print(render(table, "txt"))


def probe_table(results: Sequence[ProbeResult]) -> Table:
    """Return what each view of the runs gives away: an AUC whose interval leaves out 0.5 is a leak."""
    columns = (
        Column("probe", "what is seen", "text"),
        Column("auc", "AUC"),
        Column("n", "runs", "count"),
        Column("leaks", "leaks", "text"),
    )
    rows = [
        Row((r.name, Estimate(r.auc, r.low, r.high, r.n, "bootstrap over groups", r.reason or None), r.n, _leak(r)))
        for r in results
    ]
    notes = (
        "An interval without width: the view is the same for all runs of an instance, so there is nothing to see.",
        "Position is over the steps of faulty runs: it says how well one could guess the step unread.",
    )
    return Table("probes", "Leak probes", columns, tuple(rows), notes)


def _leak(result: ProbeResult) -> str:
    return "undefined" if result.auc is None else "yes" if result.leaks else "no"
