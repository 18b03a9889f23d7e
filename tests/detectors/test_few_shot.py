"""A few labels: who is tested does not depend on them, and no group stands on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from trajaudit.detectors.few_shot import FewShot
from trajaudit.detectors.folds import Fold, checked_folds
from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.trajectory import Trajectory

RUNS = list(generate("varied", 160, 7, "a"))


def _fold(**given: int | None) -> Fold:
    (fold,) = checked_folds(FewShot(**given), RUNS)  # type: ignore[arg-type]
    return fold


def test_few_labels_and_the_test_share_no_group_and_no_twin() -> None:
    for draw in range(3):
        fold = _fold(labels=20, draw=draw)
        assert not {run.group for run in fold.train} & {run.group for run in fold.test}
        twins = {run.label.twin for run in fold.train if run.label is not None}
        assert not twins & {run.id for run in fold.test}


def test_all_numbers_and_draws_are_asked_about_the_same_runs() -> None:
    tested = [{run.id for run in _fold(labels=n, draw=d).test} for n in (10, 40, None) for d in (0, 1)]
    assert all(one == tested[0] for one in tested)


def test_a_draw_grows_from_10_labels_to_40_and_another_draw_is_another() -> None:
    ids = {(n, d): {run.id for run in _fold(labels=n, draw=d).train} for n in (10, 40) for d in (0, 1)}
    assert [len(ids[n, 0]) for n in (10, 40)] == [10, 40]
    assert ids[10, 0] < ids[40, 0]
    assert ids[10, 0] != ids[10, 1]


def test_a_draw_has_the_share_of_faulty_runs_that_there_is_and_one_of_each_at_least() -> None:
    everything = _fold(labels=None).train
    share = sum(run.label.faulty for run in everything if run.label) / len(everything)
    assert sum(run.label.faulty for run in _fold(labels=20).train if run.label) == round(20 * share)
    assert sorted(run.label.faulty for run in _fold(labels=2).train if run.label) == [False, True]


def test_more_labels_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="labels: expected at most"):
        _fold(labels=150)
    with pytest.raises(ValueError, match="one of each class"):
        FewShot(labels=1)


def test_near_duplicates_of_what_is_tested_are_not_learnt_from(zebras: Callable[[int], list[Trajectory]]) -> None:
    runs = zebras(6)
    copies = [replace(run, id=f"copy-{run.id}", group=f"copy-{run.group}") for run in runs]
    (fold,) = checked_folds(FewShot(labels=None), [*runs, *copies])
    assert not {run.task for run in fold.train} & {run.task for run in fold.test}
