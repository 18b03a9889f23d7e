"""Trajectories from a JSONL file in trajaudit's own record format: one's own runs, or a set that ``generate`` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajaudit._fields import file_hash, nearest
from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.taxonomy import TAXONOMIES, Taxonomy
from trajaudit.trajectory import ORIGINS, Trajectory, read_trajectories


def jsonl(
    *,
    path: str,
    name: str | None = None,
    taxonomy: str = "support_desk",
    procedure: str = "support_desk",
    rules: str | None = None,
    origin: str | None = None,
) -> Dataset:
    """Return the trajectories of one file.

    Args:
        path: JSONL file, one trajectory a line.
        name: what to call the set in tables; the file's stem by default.
        taxonomy: name of the taxonomy that its labels and its judges use.
        procedure: name of a procedure that ships with trajaudit, or a path to a procedure file.
        rules: name of the testbed whose rule engine knows the tools of these runs, where one does.
        origin: keep only the runs whose label has this origin; labels of several are never scored together.

    Raises:
        FileNotFoundError, ValueError, RecordError: naming the file, the key, or the line at fault.
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"dataset.path: no such file: {path}")
    if taxonomy not in TAXONOMIES:
        known = ", ".join(TAXONOMIES)
        raise ValueError(
            f"dataset.taxonomy: unknown taxonomy {taxonomy!r}{nearest(taxonomy, TAXONOMIES)}; known: {known}"
        )

    if origin is not None and origin not in ORIGINS:
        raise ValueError(f"origin: expected one of {', '.join(ORIGINS)}, got {origin!r}{nearest(origin, ORIGINS)}")

    def load() -> Iterator[Trajectory]:
        runs = _typed(file, TAXONOMIES[taxonomy])
        return (run for run in runs if origin is None or (run.label is not None and run.label.origin == origin))

    origins = [run.label.origin if run.label else None for run in _typed(file, TAXONOMIES[taxonomy])]
    read, count = len(origins), len(origins) if origin is None else origins.count(origin)
    if count == 0:
        which = "is empty" if origin is None else f"has none with a label by {origin}"
        raise ValueError(f"path: expected at least one trajectory, and {path} {which}")
    return Dataset(
        name or file.stem,
        load,
        TAXONOMIES[taxonomy],
        Procedure.named(procedure),
        Receipt(read, count, {f"label not by {origin}": read - count} if read > count else {}),
        rules=rules,
        files={str(path): file_hash(file)},
        size=count,
    )


def _typed(path: Path, taxonomy: Taxonomy) -> Iterator[Trajectory]:
    """Yield the file's trajectories, with every labelled fault type checked against the taxonomy."""
    for number, trajectory in enumerate(read_trajectories(path), start=1):
        for i, fault in enumerate(trajectory.label.faults if trajectory.label else ()):
            taxonomy.check(fault.type, f"{path}:{number}: label.faults[{i}].type")
        yield trajectory
