"""Trajectories from a JSONL file in trajaudit's own record format: one's own runs, or a set that ``generate`` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajaudit._fields import file_hash, nearest
from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.taxonomy import TAXONOMIES, Taxonomy
from trajaudit.trajectory import Trajectory, read_trajectories


def jsonl(
    *,
    path: str,
    name: str | None = None,
    taxonomy: str = "support_desk",
    procedure: str = "support_desk",
    rules: str | None = None,
) -> Dataset:
    """Return the trajectories of one file.

    Args:
        path: JSONL file, one trajectory a line.
        name: what to call the set in tables; the file's stem by default.
        taxonomy: name of the taxonomy that its labels and its judges use.
        procedure: name of a procedure that ships with trajaudit, or a path to a procedure file.
        rules: name of the testbed whose rule engine knows the tools of these runs, where one does.

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

    def load() -> Iterator[Trajectory]:
        return _typed(file, TAXONOMIES[taxonomy])

    count = sum(1 for _ in load())
    if count == 0:
        raise ValueError(f"path: expected at least one trajectory, and {path} is empty")
    return Dataset(
        name or file.stem,
        load,
        TAXONOMIES[taxonomy],
        Procedure.named(procedure),
        Receipt(read=count, kept=count),
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
