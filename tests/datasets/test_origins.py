"""A file that nobody released is answered with the way to its source, and the source is read as well."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from trajaudit._fields import file_hash
from trajaudit.cli import run
from trajaudit.datasets.files import load_pins
from trajaudit.datasets.origins import missing, origins
from trajaudit.datasets.trajel import BENCHMARK_QUESTIONS, COLUMNS, trajel

ROW = ["Model_6_Q_501", "Model_6", "Q_501", "IBM", "agree", "True", "False", "Task 1, Action", "", "factual", "factual"]


def table(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "annotations.csv", "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, [*ROW, "", "", "No."], ["Model_7_Q_501", *ROW[1:], "", "", ""]])
    return folder


def test_every_dataset_that_is_read_can_be_fetched_or_says_how_to_get_it() -> None:
    assert set(load_pins()) == {"trajectory_judge", "trajel"}
    for dataset in ("smart_grid", "assetops_runs"):
        (origin,) = origins(dataset).values()
        assert f"git clone {origin.repository} && git -C" in origin.instructions
        assert f"checkout {origin.commit}`, then dataset.clone=" in origin.instructions


def test_the_pinned_annotations_are_the_table_that_the_figures_were_checked_on(data_dir: Path) -> None:
    for name, pin in load_pins()["trajel"].items():
        if not (data_dir / name).is_file():
            pytest.skip(f"{name} is not in {data_dir}")
        assert file_hash(data_dir / name) == pin["sha256"]


def test_a_missing_file_that_was_never_released_names_its_source(tmp_path: Path, capsys) -> None:
    with pytest.raises(FileNotFoundError, match=r"never released as one file.*git clone .*dataset\.clone="):
        run("judge", "dataset=smart_grid", f"paths.data_dir={tmp_path}", f"paths.output_dir={tmp_path}")
    assert run("fetch", "dataset=smart_grid", f"paths.data_dir={tmp_path}") == 1
    assert "not fetched: smart_grid/runs.jsonl.gz; it was never released" in capsys.readouterr().out


def test_a_file_that_is_there_is_not_asked_for(tmp_path: Path, capsys) -> None:
    (tmp_path / "smart_grid").mkdir()
    (tmp_path / "smart_grid" / "runs.jsonl.gz").touch()
    assert missing("smart_grid", tmp_path) == {}
    assert run("fetch", "dataset=smart_grid", f"paths.data_dir={tmp_path}") == 0
    assert "already there" in capsys.readouterr().out


def test_annotations_are_read_without_the_questions(tmp_path: Path) -> None:
    table(tmp_path / "trajel")
    assert trajel(data_dir=str(tmp_path)).questions == {}


def test_questions_are_read_from_the_benchmarks_own_list(tmp_path: Path) -> None:
    table(tmp_path / "trajel")
    path = tmp_path / "clone" / BENCHMARK_QUESTIONS
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"id": 501, "type": "", "text": "Any?", "characteristic_form": "Yes."}]))
    question = trajel(data_dir=str(tmp_path), benchmark=str(tmp_path / "clone")).questions["Q_501"]
    assert (question.text, question.category, question.expected) == ("Any?", None, "Yes.")
    with pytest.raises(FileNotFoundError, match=r"dataset\.benchmark: no such file"):
        trajel(data_dir=str(tmp_path), benchmark=str(tmp_path))


def test_the_hubs_copy_of_a_table_is_the_table(tmp_path: Path) -> None:
    pytest.importorskip("datasets.load")
    folder = table(tmp_path / "trajel")
    here = trajel(data_dir=str(tmp_path))
    assert trajel(data_dir=str(tmp_path), hub_id=str(folder)).rows == here.rows
    with pytest.raises(ValueError, match=r"hub_id: could not load .*nothing"):
        trajel(data_dir=str(tmp_path), hub_id=str(tmp_path / "nothing"))


def test_without_the_hubs_package_its_name_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ValueError, match="hub_id: needs the package `datasets`"):
        trajel(data_dir=str(tmp_path), hub_id="owner/name")
