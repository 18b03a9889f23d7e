"""Training: it learns, repeats itself, resumes where it was, and never does the same work twice."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pl = pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors import learned  # noqa: E402
from trajaudit.detectors.bert_step import bert_step  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.fitting import BEST, LAST  # noqa: E402
from trajaudit.detectors.learned import Learned  # noqa: E402
from trajaudit.detectors.logs import Logs  # noqa: E402
from trajaudit.detectors.longformer import longformer  # noqa: E402
from trajaudit.detectors.nli import nli  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.taxonomy import SUPPORT_DESK  # noqa: E402

HEADS = Training(epochs=30, held_out=0.0, lr=1e-2)
WHOLE = Training("all", epochs=4, held_out=0.0, encoder_lr=1e-3, lr=1e-2, batch_runs=4)


@pytest.fixture
def make(tiny: Path, tmp_path: Path):
    def made(kind=bert_step, training: Training = HEADS, **arguments) -> Learned:
        sizes = {bert_step: {}, nli: {"overlap": 8}, longformer: {"attention": 16, "window": 128}}[kind]
        return kind(
            encoder=Encoder(str(tiny), 64),
            training=training,
            taxonomy=SUPPORT_DESK,
            cache=tmp_path / "cache",
            **{"window": 64, **sizes, **arguments},
        )

    return made


def fitted(detector: Learned, runs, folder: Path) -> Learned:
    folder.mkdir(parents=True, exist_ok=True)
    detector.fit(runs, folder)
    return detector


@pytest.mark.parametrize("aggregation", ["max", "noisy_or", "attention"])
def test_a_step_classifier_finds_the_run_the_step_and_the_type(make, zebras, tmp_path, aggregation: str) -> None:
    runs = zebras(24)
    detector = fitted(make(aggregation=aggregation), runs[:36], tmp_path / "fit")
    for run, verdict in zip(runs[36:], detector.predict(runs[36:]), strict=True):
        assert verdict.faulty == run.label.faulty
        assert len(verdict.step_scores) == len(run.steps)
        if run.label.faulty:
            assert verdict.step == run.label.first.step
            assert verdict.types == ("wrong_tool",)


@pytest.mark.parametrize("kind", [nli, longformer])
def test_the_other_paradigms_learn_too(make, zebras, tmp_path, kind) -> None:
    runs = zebras(24)
    detector = fitted(make(kind, Training(epochs=30, held_out=0.0, lr=1e-2)), runs[:36], tmp_path / "fit")
    verdicts = detector.predict(runs[36:])
    right = [verdict.faulty == run.label.faulty for run, verdict in zip(runs[36:], verdicts, strict=True)]
    assert sum(right) >= 11


def test_0_is_a_seed(make, zebras, tmp_path) -> None:
    runs = zebras(6)
    scores = [
        [v.score for v in fitted(make(training=WHOLE, seed=seed), runs, tmp_path / f"{i}").predict(runs)]
        for i, seed in enumerate((0, 0, 1))
    ]
    assert scores[0] == scores[1] != scores[2]


class Killed(Exception):
    pass


class KillAt(pl.Callback):
    """Ends the process, as it were, when an epoch begins."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_train_epoch_start(self, trainer, module) -> None:
        if trainer.current_epoch == self.epoch:
            raise Killed


@pytest.mark.parametrize("held_out", [0.0, 0.25])
def test_a_resumed_fit_ends_where_the_straight_one_ends(make, zebras, tmp_path, monkeypatch, held_out: float) -> None:
    runs, settings = zebras(8), Training("top", 1, epochs=4, held_out=held_out, encoder_lr=1e-3, batch_runs=4)
    straight = fitted(make(training=settings), runs, tmp_path / "straight").predict(runs)
    plain = learned.fit
    monkeypatch.setattr(learned, "fit", lambda *given: plain(*given, callbacks=(KillAt(2),)))
    with pytest.raises(Killed):
        fitted(make(training=settings), runs, tmp_path / "killed")
    assert (tmp_path / "killed" / LAST).is_file()
    monkeypatch.setattr(learned, "fit", plain)
    resumed = fitted(make(training=settings), runs, tmp_path / "killed").predict(runs)
    assert [v.score for v in resumed] == [v.score for v in straight]
    assert [v.step_scores for v in resumed] == [v.step_scores for v in straight]


def test_a_finished_fit_is_loaded_and_not_run_again_unless_a_label_changed(make, zebras, tmp_path, monkeypatch) -> None:
    runs = zebras(8)
    first = fitted(make(), runs, tmp_path / "fit").predict(runs)

    def refuse(*given, **named):
        raise AssertionError("trained again")

    monkeypatch.setattr(pl.Trainer, "fit", refuse)
    again = fitted(make(), runs, tmp_path / "fit").predict(runs)
    assert [v.score for v in again] == [v.score for v in first]
    with pytest.raises(AssertionError, match="trained again"):
        fitted(make(), [*runs[:-2], *zebras(9)[-2:]], tmp_path / "fit")


def test_a_checkpoint_holds_plain_tensors_and_only_what_was_trained(make, zebras, tmp_path) -> None:
    fitted(make(training=Training("top", 1, epochs=1, held_out=0.0)), zebras(4), tmp_path / "fit")
    saved = torch.load(tmp_path / "fit" / BEST, weights_only=True)
    assert all("layer.1." in name or "pooler" in name or ".heads." in name for name in saved["state_dict"])
    assert not (tmp_path / "fit" / LAST).exists()


def test_early_stopping_keeps_the_best_weights_and_a_class_that_is_missing_breaks_nothing(
    make, zebras, tmp_path
) -> None:
    settings = Training(epochs=30, patience=2, held_out=0.5, lr=0.5)
    runs = zebras(8)
    fitted(make(training=settings), runs, tmp_path / "fit")
    log = (tmp_path / "fit" / "log" / "metrics.csv").read_text()
    assert "val_loss" in log
    clean_held_out = [run for run in runs if run.label.faulty] + [run for run in zebras(16) if not run.label.faulty][8:]
    fitted(make(training=settings), clean_held_out, tmp_path / "one_class")


def test_a_verdict_says_what_was_never_read(make, zebras, tmp_path) -> None:
    runs = zebras(6)
    detector = fitted(make(window=20), runs, tmp_path / "fit")
    verdict = detector.predict(runs)[0]
    assert verdict.unseen is not None
    assert verdict.unseen.tokens > 0
    assert set(verdict.unseen.steps) == {0, 1, 2}
    assert all(v.unseen is None for v in fitted(make(), runs, tmp_path / "all").predict(runs))


def test_the_size_of_a_batch_changes_no_verdict(make, zebras, tmp_path) -> None:
    runs = zebras(8)
    small = fitted(make(training=HEADS), runs, tmp_path / "fit")
    before = [v.score for v in small.predict(runs)]
    small._training = Training(batch_runs=1)
    assert [v.score for v in small.predict(runs)] == pytest.approx(before, abs=1e-6)


def test_training_needs_both_classes(make, zebras, tmp_path) -> None:
    with pytest.raises(ValueError, match="both classes"):
        fitted(make(), [run for run in zebras(4) if run.label.faulty], tmp_path / "fit")


def test_zero_shot_needs_an_encoder_that_knows_entailment(make) -> None:
    with pytest.raises(ValueError, match="mode: zero_shot needs an encoder that knows entailment"):
        make(nli, mode="zero_shot")


def test_no_logger_is_open_after_a_job(tmp_path: Path) -> None:
    from trajaudit.detectors.logs import Logging

    with Logging("offline").job(tmp_path, "job", {}) as logs:  # WANDB_MODE=disabled goes before it
        assert logs == Logs()
