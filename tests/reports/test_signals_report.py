"""The paper's table beside others: its counts recovered, its order compared, nothing undefined printed as a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from trajaudit.analysis.signals import FlaggedRuns
from trajaudit.reports import render
from trajaudit.reports.figures import save, signal_forest
from trajaudit.reports.signal_tables import (
    area_table,
    increment_table,
    order_table,
    pair_table,
    signal_table,
    type_table,
)
from trajaudit.reports.signals import findings, in_order, ledger, signal_set

PUBLISHED = yaml.safe_load((Path(__file__).parents[2] / "experiments" / "signals" / "published.yaml").read_text())
FLAGS = tuple(PUBLISHED["flags"])


def made(key: str, order: list[str], n: int = 600) -> FlaggedRuns:
    """Runs in groups of six on which the flags' worth falls in this order; the last one never varies in set "flat"."""
    rng = np.random.default_rng(0)
    faulty = rng.random(n) < 0.5
    worth = {flag: 0.1 + 0.15 * place for place, flag in enumerate(order)}
    present = np.column_stack([rng.random(n) < np.where(faulty, worth[flag], 0.85) for flag in FLAGS])
    if key == "flat":
        present[:, -1] = True
    return FlaggedRuns(FLAGS, present, faulty, tuple(str(i // 6) for i in range(n)))


@pytest.fixture(scope="module")
def sets():
    theirs = in_order(PUBLISHED)
    orders = {"same": theirs, "turned": theirs[::-1], "flat": theirs}
    return [signal_set(key, made(key, order), PUBLISHED, 400, 0, 0.95) for key, order in orders.items()]


def test_the_paper_orders_its_flags_by_their_areas() -> None:
    assert in_order(PUBLISHED)[0] == "clarity_and_justification"
    assert in_order(PUBLISHED)[-1] == "agent_sequence_correct"


def test_the_counts_behind_a_row_give_its_area_but_for_one_that_was_rounded_twice() -> None:
    lines = {line.key: line for line in ledger(PUBLISHED)}
    assert len(lines) == 21
    differing = {key: line.note for key, line in lines.items() if line.verdict == "differs"}
    assert set(differing) == {"flags.clarity_and_justification.auc"}
    assert differing["flags.clarity_and_justification.auc"].endswith("exactly 0.907495")
    assert lines["both_absent.rate"].verdict == "not reproducible here"
    assert sum(line.verdict == "same under a stated reading" for line in lines.values()) == 19


def test_a_row_that_no_counts_give_is_not_filled_in() -> None:
    broken = {**PUBLISHED, "flags": {"task_completion": [0.023, 0.9, -0.2, 0.853]}}
    lines = ledger(broken)
    assert {line.verdict for line in lines} == {"not reproducible here"}
    assert lines[0].note.startswith("0 tables of 213 runs give its rates and correlation")


def test_every_flag_stands_beside_the_papers(sets) -> None:
    table = signal_table(PUBLISHED, sets)
    assert [row.cells[:2] for row in table.rows[:4]] == [
        ("clarity_and_justification", name) for name in ("paper", "same", "turned", "flat")
    ]
    assert len(table.rows) == 4 * len(FLAGS)
    assert "| task_completion | paper | 213 | 43 | 0.023 [0.004, 0.121] | 0.900 [0.846, 0.937] |" in render(table, "md")


def test_the_same_order_and_the_turned_one_are_told_apart(sets) -> None:
    same, turned, _ = order_table(sets).rows
    assert same.cells[2].value == pytest.approx(1)
    assert turned.cells[2].value == pytest.approx(-1)
    said = findings(PUBLISHED, sets)
    assert any(text.startswith("same: the same ranking") for text in said)
    assert any(text.startswith("turned: not the same ranking") for text in said)


def test_the_one_pair_that_the_paper_prints_stands_in_its_row(sets) -> None:
    rows = {(row.cells[0], row.cells[1]): row.cells[2] for row in pair_table(PUBLISHED, sets).rows}
    assert {pair for pair, paper in rows.items() if paper is not None} == {
        ("result_verification", "clarity_and_justification")
    }
    assert len(rows) == 10


def test_a_flag_that_never_varies_is_a_dash_with_its_reason(sets) -> None:
    table = render(increment_table(sets), "md")
    assert "the flag never varies" in table
    areas = area_table(sets)
    assert {row.cells[0] for row in areas.rows} == {"same", "turned", "flat"}
    assert len(areas.rows) == 30


def test_each_kind_of_fault_is_shown_with_what_it_takes(sets) -> None:
    runs = made("same", in_order(PUBLISHED))
    kinds = ["logical" if faulty else "clean" for faulty in runs.faulty]
    clean, logical = type_table(runs, kinds, 200, 0, 0.95).rows
    assert (clean.cells[0], logical.cells[0]) == ("clean", "logical")
    assert clean.cells[1] + logical.cells[1] == 600
    place = 2 + FLAGS.index("clarity_and_justification")
    assert logical.cells[place].value == pytest.approx(1 - runs.present[runs.faulty][:, place - 2].mean())


def test_the_forest_plot_holds_the_numbers_of_the_table(sets, tmp_path) -> None:
    drawing = signal_forest(signal_table(PUBLISHED, sets))
    assert len(drawing.table.rows) == 20
    paths = save(drawing, tmp_path)
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert "clarity_and_justification,paper,0.907" in paths[2].read_text()
