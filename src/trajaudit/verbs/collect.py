"""Finding the verdicts that belong to a set of trajectories, and making their auditors' names unambiguous."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from trajaudit._fields import Json
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.datasets.files import file_hash
from trajaudit.runs import final_verdicts
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict, check_verdicts


@dataclass(frozen=True)
class Collected:
    """A set of trajectories with every verdict on it; ``files`` are the verdict files by SHA-256."""

    data: Dataset
    trajectories: list[Trajectory]
    verdicts: list[Verdict]
    files: dict[str, str]


def collect(
    dataset: Choice, output_dir: str, name: str | None, limit: int | None = None, files: Sequence[str] | None = None
) -> Collected:
    """Load a dataset and the verdicts on it.

    Args:
        name: the runs to look through, ``<output_dir>/judge/<name>/*``; the dataset's own name where null. Runs over
            another configuration of the dataset are passed over.
        limit: the first so many trajectories only.
        files: verdict files to read instead.

    Raises:
        FileNotFoundError: there is no verdict; the message says how to make one.
        RecordError: a verdict was given on other content than the dataset's.
    """
    data: Dataset = dataset.build()
    folder = Path(output_dir) / "judge" / (name or data.name)
    paths = [Path(file) for file in files] if files else _runs_over(dataset.config, folder)
    trajectories = list(data.prefix(limit))
    ids = {trajectory.id for trajectory in trajectories}
    known = ids if limit is None else {trajectory.id for trajectory in data}
    found = [verdict for path in paths for verdict in final_verdicts(path)]
    verdicts = [v for v in found if v.trajectory_id in ids or v.trajectory_id not in known]
    if not verdicts:
        raise FileNotFoundError(
            f"no verdicts on {data.name!r} under {folder}: run `trajaudit judge` with the same dataset first"
        )
    check_verdicts(verdicts, trajectories)
    hashes = {str(path): file_hash(path) for path in paths}
    return Collected(data, trajectories, distinct(verdicts), {**data.files, **hashes})


def _runs_over(dataset: Json, folder: Path) -> list[Path]:
    """Return the verdict files of runs whose dataset has the same configuration, wherever the data lay."""

    def identity(config: Json) -> Json:
        return {key: value for key, value in config.items() if key != "data_dir"}

    return [
        run / "verdicts.jsonl"
        for run in sorted(folder.glob("*"))
        if (run / "verdicts.jsonl").is_file()
        and identity(yaml.safe_load((run / "config.yaml").read_text())["dataset"]) == identity(dataset)
    ]


def distinct(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return each verdict once, with the start of the spec hash behind the name of auditors that share a name.

    The same judge over a prefix and over the whole set gives the same verdicts twice; two settings of one judge
    (temperatures, say) give different ones under one name.
    """
    seen: dict[tuple[str, str, str], Verdict] = {}
    specs: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        seen.setdefault((verdict.trajectory_id, verdict.auditor, verdict.spec_hash), verdict)
        specs.setdefault(verdict.auditor, {})[verdict.spec_hash] = None
    return [
        replace(verdict, auditor=f"{verdict.auditor}@{verdict.spec_hash[:6]}")
        if len(specs[verdict.auditor]) > 1
        else verdict
        for verdict in seen.values()
    ]
