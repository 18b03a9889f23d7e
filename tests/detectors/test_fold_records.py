"""Stored verdicts are features only where their author never saw the run's group, and nothing the fold holds back."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError
from trajaudit.detectors.fold_records import check_out_of_fold, read_records, write_record
from trajaudit.detectors.folds import Fold
from trajaudit.detectors.splits import GroupKFold, LeaveOneFaultTypeOut, PaperProtocol
from trajaudit.trajectory import Fault, Label, Trajectory


def runs(n: int = 24) -> list[Trajectory]:
    """Two runs a group, one clean and one faulty; the type of the fault goes with the group."""
    made = []
    for i in range(n):
        kind = ("factual", "scope")[i // 2 % 2]
        made.append(make_run(f"t{i}", f"g{i // 2}", Label(True, (Fault(kind, 0),)) if i % 2 else Label(False)))
    return made


def left_by(folds: list[Fold], folder: Path) -> Path:
    for number, fold in enumerate(folds):
        (folder / f"fold-{number}").mkdir(parents=True)
        write_record(fold, folder / f"fold-{number}")
    return folder


def test_a_training_under_the_very_same_split_may_be_used(tmp_path: Path) -> None:
    folds = GroupKFold(3, near_duplicates=None).folds(runs())
    records = read_records(left_by(folds, tmp_path))
    assert [record.test for record in records] == [{run.id: run.group for run in fold.test} for fold in folds]
    check_out_of_fold(records, folds, "bert_step")


def test_a_training_that_saw_the_group_of_what_it_tests_is_refused(tmp_path: Path) -> None:
    everything = runs()
    (leaky,) = PaperProtocol(test_share=0.4).folds(everything)
    shared = {run.group for run in leaky.train} & {run.group for run in leaky.test}
    assert shared, "the published protocol puts runs of one group on both sides"
    folds = [Fold("0", leaky.train, leaky.test)]
    # Where every run was tested by someone, what is left to object to is the shared group.
    back = Fold("back", leaky.test, leaky.train)
    with pytest.raises(RecordError, match="was trained on its group 'g"):
        check_out_of_fold(read_records(left_by([leaky, back], tmp_path)), folds, "bert_step")


def test_a_run_that_no_fold_of_the_training_tested_is_refused(tmp_path: Path) -> None:
    folds = GroupKFold(3, near_duplicates=None).folds(runs())
    records = read_records(left_by(folds[:2], tmp_path))
    with pytest.raises(RecordError, match="tested in no fold"):
        check_out_of_fold(records, folds, "bert_step")


def test_a_training_that_was_shown_the_type_that_a_fold_holds_back_is_refused(tmp_path: Path) -> None:
    records = read_records(left_by(GroupKFold(3, near_duplicates=None).folds(runs()), tmp_path))
    with pytest.raises(RecordError, match="under the very same split"):
        check_out_of_fold(records, LeaveOneFaultTypeOut(near_duplicates=None).folds(runs()), "bert_step")


def test_folds_of_another_seed_are_refused(tmp_path: Path) -> None:
    records = read_records(left_by(GroupKFold(3, seed=1, near_duplicates=None).folds(runs()), tmp_path))
    with pytest.raises(RecordError, match="under the very same split"):
        check_out_of_fold(records, GroupKFold(3, near_duplicates=None).folds(runs()), "bert_step")
