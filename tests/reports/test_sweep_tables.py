"""Repeats that differ in a seed are one row, and a search chooses by inner folds alone."""

from __future__ import annotations

from statistics import stdev

import pytest

from trajaudit.analysis.result import Estimate
from trajaudit.reports.sweep_tables import SweptJob, chosen, chosen_table, jobs_table, seeds_table


def job(detector: str, seed: int, auc: float | None, **more) -> SweptJob:
    settings = {"dataset": "zoo", "detector": detector, "split.seed": str(seed)}
    return SweptJob(settings, "done", None, {"auc": auc, "runs": 24, **more})


def test_mean_deviation_and_n_are_over_seeds_only() -> None:
    table = seeds_table("s", [job("a", 0, 0.5), job("a", 1, 0.6), job("a", 2, 0.7), job("b", 0, 0.9)])
    assert [column.key for column in table.columns] == ["detector", "auc_mean", "auc_sd", "auc_n"]
    a, b = (row.cells for row in table.rows)
    assert a[0] == "a"
    assert a[1:] == pytest.approx((0.6, stdev([0.5, 0.6, 0.7]), 3))
    assert b[1] == 0.9
    assert b[2] == Estimate(None, reason="one seed has no spread")


def test_an_undefined_value_is_left_out_and_n_says_so() -> None:
    (row,) = seeds_table("s", [job("a", 0, 0.5), job("a", 1, None), job("a", 2, 0.7)]).rows
    assert row.cells == pytest.approx((0.6, stdev([0.5, 0.7]), 2))
    (row,) = seeds_table("s", [job("a", 0, None)]).rows
    assert (row.cells[0].value, row.cells[0].reason, row.cells[2]) == (None, "no job has a value", 0)


def test_what_is_the_same_in_every_job_is_a_note_and_no_column() -> None:
    table = jobs_table("s", [job("a", 0, 0.5), job("b", 0, 0.6)])
    assert [column.key for column in table.columns] == ["detector", "split.seed", "state", "auc", "runs", "note"]
    assert table.notes == ("The same in every job: dataset=zoo",)


def test_a_search_chooses_by_its_inner_folds_whatever_the_test_runs_say() -> None:
    def trial(fold: int, strength: float, inner: float | None, auc: float) -> SweptJob:
        return SweptJob(
            {"fold": str(fold), "detector.strength": str(strength)}, "done", None, {"inner_auc": inner, "auc": auc}
        )

    trials = [trial(0, 1, 0.6, 0.9), trial(0, 2, 0.7, 0.2), trial(1, 1, None, 1.0), trial(1, 2, 0.5, 0.5)]
    assert [one.settings["detector.strength"] for one in chosen(trials)] == ["2", "2"]
    assert [row.cells for row in chosen_table("s", trials).rows] == [("0", "2", 0.7, 0.2), ("1", "2", 0.5, 0.5)]
