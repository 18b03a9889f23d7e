"""Who a stored verdict's author was trained on: the record that every fold leaves, and the check that rests on it.

A trained detector's verdict may only be a feature of another model where its author never saw the run's group. Nothing
in a verdict says so, hence a record beside it, by run and group, and a check that fails where the record is absent. Two
things are asked. Of every run: no run of its group was trained on. Of a run that is tested: whatever was trained on
is training data of that very fold too, so that a type, a model or a wording that the fold holds back stays held back.

What the check cannot ask is that the verdicts on *training* runs, too, come from fits that saw nothing of the tested
ones: in stored k-fold verdicts they do not. That leak passes through the few weights of a stacked model only; parts
that are fitted inside a fold do not have it, and `experiments/hybrid` measures the two beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trajaudit._fields import Fields, RecordError, dumps, loads
from trajaudit.detectors.folds import Fold
from trajaudit.trajectory import Trajectory

RECORD = "runs.json"


@dataclass(frozen=True)
class FoldRecord:
    """The runs of one finished or begun fold, id to group, on either side."""

    where: str
    train: dict[str, str]
    test: dict[str, str]


def write_record(fold: Fold, place: Path) -> None:
    """Leave a fold's record in its folder."""
    sides = {"train": fold.train, "test": fold.test}
    record = {side: {run.id: run.group for run in runs} for side, runs in sides.items()}
    (place / RECORD).write_text(dumps(record) + "\n", encoding="utf-8")


def read_records(folder: Path) -> list[FoldRecord]:
    """Return the records of every fold of a training; none where the folder holds none.

    Raises:
        RecordError: naming the file and the key.
    """
    found = []
    for path in sorted(folder.glob(f"fold-*/{RECORD}")):
        fields = Fields(loads(path.read_bytes(), str(path)), f"{path}:", ("train", "test"))
        found.append(FoldRecord(str(path), fields.need("train", dict), fields.need("test", dict)))
    return found


def check_out_of_fold(records: Sequence[FoldRecord], folds: Sequence[Fold], where: str) -> None:
    """Refuse stored verdicts that know more than the folds allow.

    Args:
        records: of the training that left the verdicts.
        folds: those in which the verdicts are to be used.
        where: what the verdicts are called in an error.

    Raises:
        RecordError: naming the record, the run and the group.
    """
    author = {run: record for record in records for run in record.test}
    groups = {record.where: frozenset(record.train.values()) for record in records}
    for fold in folds:
        own = {run.id for run in fold.train}
        for run in (*fold.train, *fold.test):
            _check_group(run, author.get(run.id), groups, where)
        for record in {author[run.id].where: author[run.id] for run in fold.test}.values():
            if beyond := sorted(set(record.train) - own):
                raise RecordError(
                    f"{where}: {record.where}: the tested runs of fold {fold.name} were judged by a model that was "
                    f"trained on {beyond[0]!r} (and {len(beyond) - 1} more), which this fold does not train on: train "
                    "it under the very same split"
                )


def _check_group(run: Trajectory, record: FoldRecord | None, groups: dict[str, frozenset[str]], where: str) -> None:
    if record is None:
        raise RecordError(
            f"{where}: {run.id!r} was tested in no fold of that training, so nothing out of fold is known"
        )
    if run.group in groups[record.where]:
        raise RecordError(
            f"{where}: {record.where}: the verdict on {run.id!r} is by a model that was trained on its group "
            f"{run.group!r}: expected one that never saw it (a split that keeps groups whole)"
        )
