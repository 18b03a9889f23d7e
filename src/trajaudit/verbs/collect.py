"""Finding the verdicts that belong to a set of trajectories, and making their auditors' names unambiguous."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from trajaudit._fields import Json, file_hash
from trajaudit.config import Choice, ConfigError
from trajaudit.dataset import Dataset
from trajaudit.runs import final_verdicts
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict, check_verdicts

STORED = {"judge": "verdicts.jsonl", "train": "predictions.jsonl"}
"""The verbs that give verdicts, with the file that they leave them in."""


@dataclass(frozen=True)
class Collected:
    """A set of trajectories with every verdict on it; ``files`` are the verdict files by SHA-256."""

    data: Dataset
    trajectories: list[Trajectory]
    verdicts: list[Verdict]
    files: dict[str, str]


def dataset_of(choice: Choice) -> Dataset:
    """Build a dataset of trajectories.

    Raises:
        ConfigError: the choice holds something else (annotations of runs that were not released).
    """
    built = choice.build()
    if not isinstance(built, Dataset):
        name = str(choice.config["_target_"]).rpartition(".")[2]
        raise ConfigError(f"{choice.where}: {name!r} holds annotations and no trajectories; it is for `reproduce`")
    return built


def collect(
    dataset: Choice, output_dir: str, name: str | None, limit: int | None = None, files: Sequence[str] | None = None
) -> Collected:
    """Load a dataset and the verdicts on it.

    Args:
        name: the runs to look through, ``<output_dir>/{judge,train}/<name>/*``; the dataset's own name where null. Runs
            over another configuration of the dataset are passed over.
        limit: the first so many trajectories only.
        files: verdict files to read instead.

    Raises:
        FileNotFoundError: there is no verdict; the message says how to make one.
        RecordError: a verdict was given on other content than the dataset's.
    """
    data = dataset_of(dataset)
    folders = {verb: Path(output_dir) / verb / (name or data.name) for verb in STORED}
    found = [path for verb in STORED for path in _runs_over(dataset.config, folders[verb], STORED[verb])]
    paths = [Path(file) for file in files] if files else found
    trajectories = list(data.prefix(limit))
    if files:
        verdicts = [verdict for path in paths for verdict in final_verdicts(path)]
        check_verdicts(verdicts, trajectories)
    else:
        verdicts = _current(paths, {trajectory.id: trajectory.content_hash for trajectory in trajectories})
    if not verdicts:
        raise FileNotFoundError(
            f"no verdicts on {data.name!r} under {folders['judge']}: run `trajaudit judge` with the same dataset first"
        )
    hashes = {str(path): file_hash(path) for path in paths}
    return Collected(data, trajectories, distinct(verdicts), {**data.files, **hashes})


def _current(paths: Sequence[Path], hashes: Mapping[str, str]) -> list[Verdict]:
    """Return the verdicts of run folders on these trajectories as they are now, by the auditors' current specs.

    A folder keeps what was said before a run was edited or a prompt changed. And an auditor that was asked about a part
    of the set only (``limit``) is left out, since what it was never asked would count against it. Both are said.
    """
    current, superseded, unfinished = [], 0, set()
    for path in paths:
        manifest = json.loads((path.parent / "manifest.json").read_text())
        specs = manifest.get("auditors", {})
        if manifest["status"] != "done":
            unfinished |= set(specs.items())
        for verdict in final_verdicts(path):
            if verdict.trajectory_id not in hashes:
                continue
            right = verdict.content_hash == hashes[verdict.trajectory_id]
            if right and specs.get(verdict.auditor) == verdict.spec_hash:
                current.append(verdict)
            else:
                superseded += 1
    if superseded:
        _say(f"passed over: {superseded} verdicts on content, or by a judge, that has changed since")
    return _asked_about_all(current, len(hashes), unfinished)


def _asked_about_all(verdicts: list[Verdict], size: int, unfinished: set[tuple[str, str]]) -> list[Verdict]:
    """Leave out auditors that were asked about a part of the set; a run that broke off was asked about all of it."""
    asked: dict[tuple[str, str], set[str]] = {}
    for verdict in verdicts:
        asked.setdefault((verdict.auditor, verdict.spec_hash), set()).add(verdict.trajectory_id)
    partial = {key: len(ids) for key, ids in asked.items() if len(ids) < size and key not in unfinished}
    for (auditor, _), count in partial.items():
        _say(f"left out: {auditor} was asked about {count} of {size}; limit={count} scores what it was asked about")
    return [verdict for verdict in verdicts if (verdict.auditor, verdict.spec_hash) not in partial]


def _say(note: str) -> None:
    print(note, file=sys.stderr)


NEAR_CHANCE = (
    "The embedded model has 135 million parameters and judges near chance. It is there so that the whole pipeline runs "
    "on a laptop; its verdicts say nothing about what a capable judge would find."
)


def warnings(verdicts: Iterable[Verdict]) -> list[str]:
    """Return what a reader of these verdicts must be told first."""
    return [NEAR_CHANCE] if any("SmolLM2-135M" in verdict.auditor for verdict in verdicts) else []


def _runs_over(dataset: Json, folder: Path, file: str) -> list[Path]:
    """Return the verdict files of runs whose dataset has the same configuration, wherever the data lay."""

    def identity(config: Json) -> Json:
        inner = {"base": identity(config["base"])} if isinstance(config.get("base"), dict) else {}
        return {key: value for key, value in config.items() if key not in ("data_dir", "path")} | inner

    return [
        run / file
        for run in sorted(folder.glob("*"))
        if all((run / name).is_file() for name in (file, "config.yaml", "manifest.json"))
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
