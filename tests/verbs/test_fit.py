"""`trajaudit fit` from end to end on an encoder of a few thousand weights, and its adapter among the judges."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from trajaudit.cli import run
from trajaudit.config import ConfigError
from trajaudit.detectors.adapters import read
from trajaudit.runs import final_verdicts
from trajaudit.trajectory import read_trajectories, write_jsonl


@pytest.fixture
def fit(tiny: Path, zebras, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that does what ``trajaudit fit overrides…`` does, on a small set with another one elsewhere."""
    pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    runs = zebras(20)
    write_jsonl(tmp_path / "runs.jsonl", runs[:24])
    write_jsonl(tmp_path / "others.jsonl", runs[24:])
    given = (
        *("dataset=jsonl", f"dataset.path={tmp_path / 'runs.jsonl'}", "dataset.name=zoo"),
        *(f"encoder.weights={tiny}", "encoder.window=64", "detector.window=64", "calibration.folds=2"),
        *("trainer.epochs=15", "trainer.lr=0.01", "trainer.held_out=0.0", "stats.resamples=100"),
        *("+dataset@also.others=jsonl", f"also.others.path={tmp_path / 'others.jsonl'}"),
        *(f"paths.output_dir={tmp_path / 'out'}", f"to={tmp_path / 'zoo_steps'}"),
    )

    def called(*overrides: str) -> int:
        monkeypatch.setattr(sys, "argv", ["trajaudit", *given, *overrides])
        return run("fit", *given, *overrides)

    return called


def folder_of(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "out" / "fit").glob("*/*")
    return path


def test_the_card_lists_the_figures_of_the_run_and_no_place_on_this_machine(fit, tmp_path: Path, capsys) -> None:
    assert fit() == 0
    adapter, card = read(tmp_path / "zoo_steps"), (tmp_path / "zoo_steps" / "README.md").read_text()
    assert card in capsys.readouterr().out
    here, there = adapter.facts.figures
    assert (here["set"], here["runs"], there["set"], there["runs"]) == ("out of fold", 24, "others", 16)
    for one in (here, there):
        area = one["metrics"]["roc_auc"]
        assert f"{area['value']:.3f} [{area['low']:.3f}, {area['high']:.3f}]" in card
    verdicts = {v.trajectory_id: v for v in final_verdicts(folder_of(tmp_path) / "also-others.jsonl")}
    runs = list(read_trajectories(tmp_path / "others.jsonl"))
    false = [bool(verdicts[run.id].faulty) for run in runs if not run.label.faulty]
    assert there["metrics"]["false_alarm"]["value"] == pytest.approx(sum(false) / len(false))
    assert adapter.facts.command.startswith("trajaudit fit dataset=jsonl dataset.path=runs.jsonl ")
    for place in (tmp_path, "/home", "data_dir"):
        assert str(place) not in adapter.facts.command
        assert str(place) not in json.dumps(adapter.facts.trained_on)
    assert adapter.facts.trained_on["faulty"] == 12


def test_a_finished_fit_is_not_run_again_and_a_killed_one_fits_what_is_missing(
    fit, tmp_path: Path, monkeypatch
) -> None:
    from trajaudit.detectors.learned import Learned

    plain, fits = Learned.fit, []

    def counted(self, runs, folder: Path) -> None:
        fits.append(folder.name)
        if len(fits) == 3:
            raise OSError("the disk is full")
        plain(self, runs, folder)

    monkeypatch.setattr(Learned, "fit", counted)
    with pytest.raises(OSError, match="disk is full"):
        fit()
    trained = []
    monkeypatch.setattr("pytorch_lightning.Trainer.fit", _counting(trained, monkeypatch))
    fit()
    assert fits == ["inner-0", "inner-1", "model", "inner-0", "inner-1", "model"]
    assert len(trained) == 1  # the inner fits were loaded
    before = (tmp_path / "zoo_steps" / "adapter.json").read_bytes()
    fit()
    assert len(fits) == 6
    assert (tmp_path / "zoo_steps" / "adapter.json").read_bytes() == before


def _counting(trained: list[str], monkeypatch):
    import pytorch_lightning as pl

    plain = pl.Trainer.fit

    def counted(self, *given, **named):
        trained.append("fit")
        return plain(self, *given, **named)

    return counted


def test_an_adapter_judges_as_it_did_for_its_card(fit, tmp_path: Path) -> None:
    fit()
    others = ("dataset=jsonl", f"dataset.path={tmp_path / 'others.jsonl'}", f"paths.output_dir={tmp_path / 'out'}")
    assert run("judge", *others, "judge=adapter", f"judge.adapter={tmp_path / 'zoo_steps'}") == 0
    (path,) = (tmp_path / "out" / "judge").glob("*/*/verdicts.jsonl")
    judged = {verdict.trajectory_id: verdict for verdict in final_verdicts(path)}
    for card in final_verdicts(folder_of(tmp_path) / "also-others.jsonl"):
        assert judged[card.trajectory_id].score == pytest.approx(card.score, abs=1e-6)
        assert (judged[card.trajectory_id].faulty, judged[card.trajectory_id].step) == (card.faulty, card.step)
    assert {verdict.auditor for verdict in judged.values()} == {"zoo_steps"}


def test_a_judge_on_another_encoder_is_refused_before_any_run_is_read(fit, tiny: Path, tmp_path: Path) -> None:
    fit()
    shutil.copytree(tiny, tmp_path / "other")
    (tmp_path / "other" / "vocab.txt").write_text("changed")
    adapter = ("judge=adapter", f"judge.adapter={tmp_path / 'zoo_steps'}", f"judge.weights={tmp_path / 'other'}")
    with pytest.raises(ValueError, match="zoo_steps: encoder.sha256: expected .* trained on other weights"):
        run("judge", "dataset.n=4", *adapter, f"paths.output_dir={tmp_path / 'out'}")
    assert not list((tmp_path / "out").glob("judge/*"))


def test_what_can_be_kept_is_what_can_be_loaded() -> None:
    from trajaudit.detectors.adapted import DETECTORS
    from trajaudit.verbs.fit import KEPT

    assert set(KEPT) == set(DETECTORS)


def test_what_cannot_be_kept_is_refused_before_anything_is_fitted(fit) -> None:
    with pytest.raises(ConfigError, match="detector: 'TfidfLogistic' cannot be kept as an adapter; known: bert_step"):
        run("fit", "detector=tfidf")
    with pytest.raises(ValueError, match="calibration.folds: expected at least 2, got 1"):
        fit("calibration.folds=1")


def test_a_judge_of_an_adapter_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="judge.adapter: no such adapter"):
        run("judge", "judge=adapter", "judge.adapter=nothing", f"paths.output_dir={tmp_path}")
    with pytest.raises(ConfigError, match="judge.adapter: 'support_desk' holds no trained detector but free_auditors"):
        run("judge", "judge=adapter", "judge.adapter=support_desk", f"paths.output_dir={tmp_path}")
