"""From a source to a target and back to a table: trainings on a tiny encoder, then their learning curves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from trajaudit._fields import RecordError
from trajaudit.cli import run
from trajaudit.reports import Table
from trajaudit.reports.figures import save
from trajaudit.trajectory import write_jsonl
from trajaudit.verbs.recipes.transfer import ALONE, WORTH, transfer

STATS = {"resamples": 100, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}
Train = Callable[..., Path]


@pytest.fixture
def train(tiny: Path, zebras, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """A function that trains on one of two sets, and returns the folder of the training."""
    pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    write_jsonl(tmp_path / "source.jsonl", zebras(8))
    moved = [
        replace(one, id=f"t{one.id}", group=f"t{one.group}", task=one.task.replace("x", "w")) for one in zebras(16)
    ]
    write_jsonl(tmp_path / "target.jsonl", moved)

    def called(experiment: str, *overrides: str, detector: str = "bert_step") -> Path:
        before = set((tmp_path / "out" / "train" / "transfer").glob("*"))
        own = [f"encoder.weights={tiny}", "encoder.window=64", "detector.window=64", "trainer.epochs=4"]
        sets = {"dataset": "source", "test": "target"} if experiment == "transfer_source" else {"dataset": "target"}
        for key, name in sets.items():
            own += [f"{'dataset@test' if key == 'test' else key}=jsonl", f"{key}.path={tmp_path}/{name}.jsonl"]
        given = [
            f"paths.output_dir={tmp_path / 'out'}",
            f"detector={detector}",
            *(own if detector != "length" else own[4:]),
        ]
        assert run("train", f"experiment={experiment}", *given, "trainer.lr=0.01", "logger=csv", *overrides) == 0
        (folder,) = set((tmp_path / "out" / "train" / "transfer").glob("*")) - before
        return folder

    return called


def _rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip([column.key for column in table.columns], row.cells, strict=True)) for row in table.rows]


def test_a_source_is_learnt_taken_to_few_labels_and_laid_beside_a_start_from_nothing(
    train: Train, tmp_path: Path
) -> None:
    source = train("transfer_source")
    for draw in (0, 1):
        train("transfer", "split.labels=6", f"split.draw={draw}")
        warm = train("transfer", "split.labels=6", f"split.draw={draw}", f"trainer.start={source}")
    train("transfer", "split.labels=6", detector="length")
    made = transfer(stats=STATS, runs=str(tmp_path / "out"), data_dir=str(tmp_path))  # type: ignore[arg-type]

    points = {(row["detector"], row["source"], row["labels"]): row for row in _rows(made.claims)}
    starts = [("—", "6"), ("jsonl", "0"), ("jsonl", "6")]
    assert list(points) == [*(("bert_step", *start) for start in starts), ("length", "—", "6")]
    assert [row["trainings"] for row in points.values()] == [2, 1, 2, 1]
    tested = len((warm / "predictions.jsonl").read_text().splitlines())
    assert {row["n"] for row in points.values()} == {tested}  # the source's training tested all 32
    assert tested == 16
    families = [(a["a"], a["b"]) for a in _rows(made.tables[0])]
    assert len(families) == 2
    assert ALONE in made.findings[1]
    assert WORTH in made.findings[2]
    assert save(made.figures[0], tmp_path / "figures")
    weights = json.loads((warm / "fold-0" / "model" / "spec.json").read_text())["start"]["weights"]
    assert weights in (warm / "config.yaml").read_text()
    assert str(source) not in (warm / "config.yaml").read_text()  # a start is its weights, wherever they lie


def test_a_start_that_nobody_has_is_refused(train: Train, tmp_path: Path) -> None:
    source = train("transfer_source")
    train("transfer", "split.labels=6", f"trainer.start={source}")
    (source / "predictions.jsonl").unlink()
    with pytest.raises(RecordError, match="started from weights"):
        transfer(stats=STATS, runs=str(tmp_path / "out"), data_dir=str(tmp_path))  # type: ignore[arg-type]


def test_points_of_one_target_that_were_tested_on_different_runs_are_refused(train: Train, tmp_path: Path) -> None:
    train("transfer", "split.labels=6", detector="length")
    train("transfer", "split.labels=8", "split.seed=1", detector="length")
    with pytest.raises(RecordError, match="tested other runs"):
        transfer(stats=STATS, runs=str(tmp_path / "out"), data_dir=str(tmp_path))  # type: ignore[arg-type]
