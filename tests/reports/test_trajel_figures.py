"""The figures of the annotations hold the paper's counts, and say which reading of a location they draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajaudit.analysis.intervals import wilson
from trajaudit.datasets.trajel import trajel
from trajaudit.reports.figures import co_occurrence, model_profiles, save, task_positions, type_by_component
from trajaudit.reports.trajel import Sides
from trajaudit.verbs.recipes.trajel import sides_of


@pytest.fixture(scope="module")
def sides(data_dir: Path) -> Sides:
    if not (data_dir / "trajel" / "annotations.csv").is_file():
        pytest.skip(f"trajel/annotations.csv is not in {data_dir}")
    return sides_of(trajel(data_dir=str(data_dir)))


def cells(drawing, row: str) -> dict:
    heads = [column.key for column in drawing.table.columns]
    return next(
        dict(zip(heads, line.cells, strict=True)) for line in drawing.table.rows if str(line.cells[0]).startswith(row)
    )


def test_a_share_in_the_heat_map_is_the_published_count_over_the_runs_with_that_type(sides: Sides) -> None:
    share = cells(type_by_component(sides), "procedural")["action"]
    assert share.value == pytest.approx(57 / 95)
    assert (share.low, share.high) == wilson(57, 95)


def test_types_that_come_together_are_counted_both_ways(sides: Sides) -> None:
    drawing = co_occurrence(sides)
    assert cells(drawing, "factual")["procedural"].value == pytest.approx(27 / 65)
    assert cells(drawing, "procedural")["factual"].value == pytest.approx(27 / 95)


def test_models_stand_in_the_order_of_their_rates(sides: Sides) -> None:
    rows = model_profiles(sides).table.rows
    assert [row.cells[0] for row in (rows[0], rows[-1])] == ["Model_6", "Model_17"]
    rates = [row.cells[1].value for row in rows]
    assert rates == sorted(rates)


def test_both_readings_of_a_position_are_drawn(sides: Sides) -> None:
    fifth = cells(task_positions(sides), "5")
    assert (fifth["mentions"], fifth["runs"]) == (37, 41)


def test_the_same_annotations_give_the_same_bytes(sides: Sides, tmp_path: Path) -> None:
    first, second = (save(task_positions(sides), tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
