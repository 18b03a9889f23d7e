"""The counts behind a printed row: found where one table alone gives it, and no table for a row that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from trajaudit.analysis.two_by_two import Counts, auc_interval, counts_behind

ROWS = {  # Table 13 of the paper, n = 213
    "task_completion": (0.023, 0.900, -0.786),
    "data_retrieval_accuracy": (0.430, 0.896, -0.502),
    "result_verification": (0.064, 0.910, -0.784),
    "agent_sequence_correct": (0.437, 0.866, -0.453),
    "clarity_and_justification": (0.091, 0.943, -0.833),
}


def columns(table: Counts) -> tuple[np.ndarray, np.ndarray]:
    """The flag and the label of each run of a table."""
    present = np.arange(table.present + table.absent) < table.present
    faulty = np.concatenate(
        [np.arange(table.present) < table.faulty_present, np.arange(table.absent) < table.faulty_absent]
    )
    return present, faulty


def test_each_row_of_the_paper_is_given_by_one_table_and_all_have_the_same_label_count() -> None:
    found = {flag: counts_behind(213, *row) for flag, row in ROWS.items()}
    assert all(len(tables) == 1 for tables in found.values())
    assert {tables[0].faulty for tables in found.values()} == {154}


@pytest.mark.parametrize("flag", ROWS)
def test_correlation_and_area_of_a_table_are_those_of_its_columns(flag: str) -> None:
    (table,) = counts_behind(213, *ROWS[flag])
    present, faulty = columns(table)
    assert table.phi == pytest.approx(np.corrcoef(present, faulty)[0, 1])
    assert table.auc == pytest.approx(roc_auc_score(faulty, ~present))


def test_a_row_that_contradicts_itself_has_no_table() -> None:
    assert counts_behind(213, 0.023, 0.900, -0.2) == []


def test_coarse_figures_leave_many_tables() -> None:
    assert len(counts_behind(213, 0.4, 0.9, -0.5, digits=1)) > 100


def test_the_interval_of_an_area_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(600):
        missed, kept = int(rng.binomial(150, 0.85)), int(rng.binomial(60, 0.8))
        estimate = auc_interval(Counts(kept + 150 - missed, 150 - missed, missed + 60 - kept, missed))
        hits += estimate.low <= (0.85 + 0.8) / 2 <= estimate.high
    assert 0.92 < hits / 600 < 0.98
