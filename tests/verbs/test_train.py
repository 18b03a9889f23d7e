"""`trajaudit train` from end to end, on an encoder of a few thousand weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trajaudit.composing import arguments, composed
from trajaudit.config import resolve
from trajaudit.runs import final_verdicts
from trajaudit.trajectory import read_trajectories, write_jsonl


def test_light_verbs_and_the_list_of_verbs_load_no_torch() -> None:
    heavy = "('torch', 'pytorch_lightning', 'transformers', 'datasets', 'wandb')"
    does = "import sys, trajaudit.cli as c; c.usage(); c.arguments(c.composed('judge', []))"
    code = f"{does}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.fixture
def train(tiny: Path, zebras, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that does what ``trajaudit train overrides…`` does, on a small set of its own."""
    pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    write_jsonl(tmp_path / "runs.jsonl", zebras(12))

    def called(*overrides: str, verb: str = "train") -> int:
        dataset = ("dataset=jsonl", f"dataset.path={tmp_path / 'runs.jsonl'}", "dataset.name=zoo")
        own = (
            *(f"encoder.weights={tiny}", "encoder.window=64", "detector.window=64"),
            *("calibration.folds=2", "trainer.epochs=15", "trainer.lr=0.01", "trainer.held_out=0.0"),
        )
        if not any(part.startswith("split=") for part in overrides):
            own = (*own, "split.n_folds=3")
        given = [f"paths.output_dir={tmp_path / 'out'}", *dataset, *(own if verb == "train" else ()), *overrides]
        cfg = composed(verb, given)
        return resolve(cfg["_target_"], verb)(**arguments(cfg))

    return called


def folder_of(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "out" / "train" / "zoo").glob("*")
    return path


def test_every_labelled_run_gets_one_verdict_that_score_can_use(train, tmp_path, capsys) -> None:
    assert train() == 0
    folder = folder_of(tmp_path)
    verdicts = final_verdicts(folder / "predictions.jsonl")
    assert sorted(v.trajectory_id for v in verdicts) == sorted(r.id for r in read_trajectories(tmp_path / "runs.jsonl"))
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["pooled"]["auc"] > 0.9
    assert [fold["test"]["groups"] for fold in metrics["folds"]] == [4, 4, 4]
    assert "bert_step on zoo: 24 runs in 3 folds: AUC" in capsys.readouterr().out
    assert train("stats.resamples=100", verb="score") == 0
    assert "bert_step" in capsys.readouterr().out.rpartition("Summary")[2]


def test_a_finished_training_is_not_run_again(train, tmp_path, capsys, monkeypatch) -> None:
    train()
    before = (folder_of(tmp_path) / "predictions.jsonl").read_bytes()
    monkeypatch.setattr("trajaudit.verbs.train.out_of_fold", None)
    assert train() == 0
    assert "already done" in capsys.readouterr().out
    assert (folder_of(tmp_path) / "predictions.jsonl").read_bytes() == before


def test_a_training_that_broke_off_fits_only_what_is_missing(train, tmp_path, monkeypatch) -> None:
    from trajaudit.detectors.learned import Learned

    plain, fits = Learned.fit, []

    def counted(self, runs, folder):
        fits.append(folder.name)
        if len(fits) == 5:
            raise OSError("the disk is full")
        plain(self, runs, folder)

    monkeypatch.setattr(Learned, "fit", counted)
    with pytest.raises(OSError, match="disk is full"):
        train()
    assert json.loads((folder_of(tmp_path) / "manifest.json").read_text())["status"] == "failed"
    train()
    # Two fits a fold. The first two folds were finished; of the third, nothing.
    assert fits == ["model-0", "model-1"] * 2 + ["model-0"] + ["model-0", "model-1"]
    killed = (folder_of(tmp_path) / "predictions.jsonl").read_text()
    monkeypatch.setattr(Learned, "fit", plain)
    train("name=straight")
    (straight,) = (tmp_path / "out" / "train" / "straight").glob("*/predictions.jsonl")
    assert without_timing(straight.read_text()) == without_timing(killed)


def without_timing(text: str) -> list[dict]:
    return [{**json.loads(line), "latency_s": None} for line in text.splitlines()]


def test_the_test_part_of_a_fold_changes_nothing_that_was_fitted(train, zebras, tmp_path) -> None:
    """Thresholds and calibration are frozen before the test: turning its labels over moves neither."""
    train("calibration.false_alarms=0.2")
    before = json.loads((folder_of(tmp_path) / "metrics.json").read_text())["folds"][0]
    assert 0 < before["calibration"]["threshold"] < 1
    raw = (folder_of(tmp_path) / "fold-0" / "raw.jsonl").read_text()
    assert len(raw.splitlines()) == before["test"]["runs"]


def test_a_set_of_one_class_is_refused_before_any_training(train, zebras, tmp_path) -> None:
    write_jsonl(tmp_path / "runs.jsonl", [run for run in zebras(12) if run.label.faulty])
    with pytest.raises(ValueError, match="not of both classes"):
        train()


def test_transfer_trains_on_one_set_and_judges_another(train, zebras, tmp_path) -> None:
    write_jsonl(tmp_path / "other.jsonl", zebras(16)[24:])
    test = ("dataset@test=jsonl", f"test.path={tmp_path / 'other.jsonl'}", "test.name=other")
    assert train("split=transfer", *test) == 0
    (path,) = (tmp_path / "out" / "train" / "other").glob("*/predictions.jsonl")
    assert {v.trajectory_id for v in final_verdicts(path)} == {run.id for run in zebras(16)[24:]}


def test_the_published_protocol_tests_some_rows_only(train, tmp_path) -> None:
    assert train("split=paper_protocol", "split.unit=step") == 0
    metrics = json.loads((folder_of(tmp_path) / "metrics.json").read_text())
    assert metrics["pooled"]["runs"] == round(0.15 * 24)
    assert os.environ["WANDB_MODE"] == "disabled"
