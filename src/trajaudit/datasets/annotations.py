"""Annotations that sheets saved, read back and checked against the trajectories they were given on.

Nothing is mended: a file that was edited by hand, belongs to another set, or says something else than an earlier file
of the same person on the same run is an error with its name. A browser that saves twice leaves ``… (1).json``; the
same answer twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Json, RecordError, loads, nearest
from trajaudit.annotation import Annotation, label_of
from trajaudit.dataset import Receipt
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory


def read_annotations(
    paths: Sequence[str | Path], trajectories: Iterable[Trajectory], taxonomy: Taxonomy
) -> tuple[list[Annotation], Receipt, list[Path]]:
    """Return the annotations in ``paths`` (files, or folders of ``*.json``), what became of the files, and the files.

    Raises:
        FileNotFoundError: a path that does not exist, or no file at all.
        RecordError: naming file, key, what was given and what was expected.
    """
    runs = {run.id: run for run in trajectories}
    files = list(_files(paths))
    if not files:
        raise FileNotFoundError(f"answers: no .json file in {', '.join(map(str, paths))}")
    receipt, first = Receipt(read=len(files)), dict[tuple[str, str], Path]()
    found: dict[tuple[str, str], Annotation] = {}
    for file in files:
        annotation = Annotation.from_json(_content(file), str(file))
        if annotation.trajectory_id not in runs:
            close = nearest(annotation.trajectory_id, runs)
            raise RecordError(f"{file}: trajectory_id: {annotation.trajectory_id!r} is not in the dataset{close}")
        annotation.check(runs[annotation.trajectory_id], taxonomy, str(file))
        key = (annotation.trajectory_id, annotation.annotator)
        if key in found:
            _same(found[key], annotation, first[key], file)
            receipt.dropped["saved twice"] = receipt.dropped.get("saved twice", 0) + 1
        found.setdefault(key, annotation)
        first.setdefault(key, file)
    receipt.kept = len(found)
    return list(found.values()), receipt, files


def by_trajectory(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """Group annotations by trajectory, in order of first appearance."""
    groups: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        groups.setdefault(annotation.trajectory_id, []).append(annotation)
    return groups


def labelled(
    trajectories: Iterable[Trajectory], annotations: Mapping[str, Sequence[Annotation]], receipt: Receipt
) -> list[Trajectory]:
    """Return the annotated trajectories with the label that their annotators give them, in place of any other.

    Evenly split ones are left out and counted in the receipt.
    """
    out = []
    for run in trajectories:
        if run.id not in annotations:
            continue
        label = label_of(annotations[run.id])
        if label is None:
            receipt.dropped["annotators evenly split"] = receipt.dropped.get("annotators evenly split", 0) + 1
        else:
            out.append(replace(run, label=label))
    return out


def _files(paths: Sequence[str | Path]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(path.glob("*.json"))
        elif path.is_file():
            yield path
        else:
            raise FileNotFoundError(f"answers: no such file or folder: {path}")


def _content(file: Path) -> Json:
    return loads(file.read_bytes(), str(file))


def _same(one: Annotation, other: Annotation, first: Path, file: Path) -> None:
    if replace(one, saved=None) != replace(other, saved=None):
        raise RecordError(
            f"{file}: {other.annotator!r} says something else of {other.trajectory_id!r} than in {first}; keep one"
        )
