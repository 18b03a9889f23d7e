"""Splits: what may stand in train when its like is tested."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sample_runs import make_run

from trajaudit.detectors.folds import Fold, checked_folds
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.detectors.splits import (
    GroupKFold,
    LeaveOneFaultTypeOut,
    LeaveOneGroupOut,
    LeaveOneModelOut,
    PaperProtocol,
    Transfer,
)
from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.trajectory import Fault, Label, Source, Trajectory

APART = {"near_duplicates": None}
"""Small made-up runs are alike on purpose; most tests here are about groups."""


def runs_of(groups: str, types: tuple[str, ...] = ("wrong_tool",)) -> list[Trajectory]:
    """One clean run and one run a fault type for each letter."""
    found = []
    for group in groups:
        for kind in (None, *types):
            label = Label(False) if kind is None else Label(True, (Fault(kind, 1),))
            found.append(make_run(f"{group}-{kind}", group, label))
    return found


def test_a_group_is_never_on_both_sides_of_a_fold() -> None:
    runs = list(generate("varied", 80, 7, "a", 0.0))
    folds = checked_folds(GroupKFold(n_folds=4), runs)
    assert Counter(run.id for fold in folds for run in fold.test) == Counter(run.id for run in runs)
    for fold in folds:
        assert not {run.group for run in fold.train} & {run.group for run in fold.test}


def test_a_row_split_of_one_instance_and_its_mutants_fails_closed() -> None:
    """One instance, clean and three mutants, split by rows."""
    runs = runs_of("a", ("wrong_tool", "premature_stop", "ignored_observation"))

    class Rows:
        clean = True

        def folds(self, runs, test=None):
            return [Fold("rows", tuple(runs[:2]), tuple(runs[2:]))]

    with pytest.raises(ValueError, match="group 'a' stands in train and in test"):
        checked_folds(Rows(), runs)


def test_uneven_groups_make_uneven_folds_and_the_sizes_say_so() -> None:
    """Groups of 1, 1, 1 and 20 runs: no two halves are even, and no group is torn to make them so."""
    sizes = {"a": 1, "b": 1, "c": 1, "d": 20}
    runs = [
        make_run(f"{group}{i}", group, Label((i + ord(group)) % 2 == 0)) for group, n in sizes.items() for i in range(n)
    ]
    folds = GroupKFold(n_folds=2, **APART).folds(runs)
    tested = sorted(fold.sizes()["test"]["runs"] for fold in folds)
    assert sum(tested) == 23
    assert tested[1] >= 20
    assert all(fold.sizes()["test"]["groups"] + fold.sizes()["train"]["groups"] == 4 for fold in folds)


def test_near_duplicates_of_different_groups_stay_together() -> None:
    words = [f"word{i}" for i in range(60)]
    one = replace(make_run("1", "a"), task=" ".join(words))
    two = replace(make_run("2", "b"), task=" ".join([*words[:-1], "other"]))  # one shingle of many differs
    far = replace(make_run("3", "c"), task=" ".join(reversed(words)))
    joined = clusters([one, two, far])
    assert joined[0] == joined[1] != joined[2]
    assert len(set(clusters([one, two, far], None))) == 3


def test_near_duplicates_are_chained_through_groups() -> None:
    """a ~ b by one run and b ~ c by another: all three groups are one cluster."""
    text = {
        "x": "alpha " * 3 + "one two three four five six seven",
        "y": "beta gamma delta epsilon zeta eta theta iota",
    }
    runs = [
        replace(make_run("1", "a"), task=text["x"], steps=make_run().steps[:1]),
        replace(make_run("2", "b"), task=text["x"], steps=make_run().steps[:1]),
        replace(make_run("3", "b"), task=text["y"], steps=make_run().steps[:1]),
        replace(make_run("4", "c"), task=text["y"], steps=make_run().steps[:1]),
    ]
    assert len(set(clusters(runs))) == 1


def test_leave_one_group_out_tests_each_group_alone() -> None:
    folds = checked_folds(LeaveOneGroupOut(**APART), runs_of("abc"))
    assert [{run.group for run in fold.test} for fold in folds] == [{"a"}, {"b"}, {"c"}]


def test_leave_one_model_out_leaves_out_its_tasks_too() -> None:
    runs = [
        replace(run, id=f"{run.id}-{model}", source=Source("x", model))
        for run in runs_of("abcd")
        for model in ("small", "large")
    ]
    folds = checked_folds(LeaveOneModelOut(**APART), runs)
    assert sum(len(fold.test) for fold in folds) == len(runs)
    for fold in folds:
        assert not {run.source.model for run in fold.train} & {run.source.model for run in fold.test}
    with pytest.raises(ValueError, match="has no source.model"):
        LeaveOneModelOut(**APART).folds(runs_of("ab"))


def test_a_fault_type_that_is_left_out_is_nowhere_in_training() -> None:
    types = ("wrong_tool", "premature_stop")
    runs = runs_of("abcd", types[:1]) + runs_of("efgh", types[1:])
    folds = checked_folds(LeaveOneFaultTypeOut(**APART), runs)
    assert [fold.name for fold in folds] == ["premature_stop", "wrong_tool"]
    for fold in folds:
        assert all(fault.type != fold.name for run in fold.train for fault in run.label.faults)
        assert {fault.type for run in fold.test for fault in run.label.faults} == {fold.name}


def test_transfer_drops_training_runs_that_the_other_set_holds_too() -> None:
    train = list(generate("varied", 24, 1, "a", 0.0))
    test = [*generate("varied", 24, 2, "b", 0.0), *train[:4]]
    (fold,) = checked_folds(Transfer(), train, test)
    assert len(fold.test) == 28
    assert not {run.group for run in train[:4]} & {run.group for run in fold.train}
    with pytest.raises(ValueError, match="transfer needs a second set"):
        checked_folds(Transfer(), train)


def test_the_published_protocol_is_balanced_and_lets_groups_leak() -> None:
    runs = list(generate("paper", 80, 7, "a", 0.0))
    (fold,) = checked_folds(PaperProtocol(), runs)
    faulty = [run.label.faulty for run in (*fold.train, *fold.test)]
    assert np.mean(faulty) == 0.5
    assert {run.group for run in fold.train} & {run.group for run in fold.test}


def test_rows_of_the_published_step_classifier_are_single_steps_of_faulty_and_clean_runs() -> None:
    runs = [make_run("1", "a", Label(True, (Fault("wrong_tool", 1),)), steps=4), make_run("2", "b", Label(False))]
    fold = PaperProtocol(unit="step", test_share=0.5).folds(runs)[0]
    rows = (*fold.train, *fold.test)
    assert len(rows) == 2  # the one faulty step, and one of the six clean ones
    assert {len(row.steps) for row in rows} == {1}
    assert sorted(row.label.faulty for row in rows) == [False, True]
    assert not {row.id for row in rows} & {run.id for run in runs}


@pytest.mark.parametrize(
    ("split", "runs", "message"),
    [
        (GroupKFold(n_folds=5, **APART), runs_of("ab"), "n_folds: expected at most 2"),
        (GroupKFold(**APART), [make_run()], "no run is labelled"),
        (
            LeaveOneGroupOut(**APART),
            [make_run("1", "a", Label(False)), make_run("2", "b", Label(True))],
            "both classes",
        ),
        (LeaveOneFaultTypeOut(**APART), runs_of("ab"), "at least two types"),
    ],
)
def test_what_cannot_be_split_says_why(split, runs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_folds(split, runs)


def test_the_same_seed_gives_the_same_folds_and_0_is_a_seed() -> None:
    runs = list(generate("varied", 60, 7, "a", 0.0))
    tests = [[run.id for run in GroupKFold(seed=seed).folds(runs)[0].test] for seed in (0, 0, 1)]
    assert tests[0] == tests[1] != tests[2]
