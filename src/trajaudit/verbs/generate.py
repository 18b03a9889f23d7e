"""``trajaudit generate``: write a dataset's trajectories as JSONL, and say what their surface gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.runs import RunFolder, progress_bar
from trajaudit.testbeds.probes import probe, probe_table
from trajaudit.trajectory import STRATA, Trajectory, write_jsonl
from trajaudit.verbs.paths import IRRELEVANT, Paths


def generate(*, dataset: Choice, paths: Paths, name: str | None = None, probes: bool = False) -> int:
    """Write a dataset's labelled trajectories as JSONL, streaming, with leak probes on request."""
    data: Dataset = dataset.build()
    config = {"dataset": dataset.config, "probes": probes}
    seeds = {"dataset": dataset.config.get("seed")}
    with RunFolder.open(
        paths["output_dir"], "generate", name or data.name, config, data=data.files, seeds=seeds, irrelevant=IRRELEVANT
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
    with progress_bar(f"generate {data.name}", data.size) as bar:
        for trajectory in data:
            strata[trajectory.label.stratum if trajectory.label else "unlabelled"] += 1
            bar.update()
            yield trajectory


def _shares(strata: Counter[str]) -> str:
    return ", ".join(f"{strata[name]} {name}" for name in (*STRATA, "unlabelled") if strata[name])


def _report_probes(data: Dataset, folder: RunFolder) -> None:
    results = probe(list(data))
    write_jsonl(folder.path / "probes.json", [[result.to_json() for result in results]])
    print(probe_table(results))
