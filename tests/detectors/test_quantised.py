"""Inference that costs less: int8, and windows that are read once; what of it may move a verdict, and how far."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.backbone import Backbone  # noqa: E402
from trajaudit.detectors.batches import Batch, Rows, loader  # noqa: E402
from trajaudit.detectors.bert_step import bert_step  # noqa: E402
from trajaudit.detectors.encoded import tokens_of  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.learned import Learned  # noqa: E402
from trajaudit.detectors.recipes import StepWindows  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.taxonomy import SUPPORT_DESK  # noqa: E402

SETTINGS = {
    "frozen": Training(epochs=20, held_out=0.0, lr=1e-2),
    "all": Training("all", epochs=4, held_out=0.0, encoder_lr=1e-3, lr=1e-2, batch_runs=4),
}


def fitted(tiny: Path, precision: str, tuning: str, runs, folder: Path) -> Learned:
    detector = bert_step(
        encoder=Encoder(str(tiny), 64, precision=precision),
        training=SETTINGS[tuning],
        taxonomy=SUPPORT_DESK,
        cache=folder / "cache",
        window=64,
    )
    place = folder / precision
    place.mkdir(parents=True)
    detector.fit(runs, place)
    return detector


@pytest.mark.parametrize("tuning", ["frozen", "all"])
def test_int8_decides_as_float32_does_and_is_not_the_same(tiny, zebras, tmp_path, tuning: str) -> None:
    runs = zebras(16)
    given = {
        precision: [v.score for v in fitted(tiny, precision, tuning, runs[:24], tmp_path).predict(runs[24:])]
        for precision in ("float32", "int8")
    }
    assert given["int8"] != given["float32"]
    assert given["int8"] == pytest.approx(given["float32"], abs=0.1)


def test_vectors_in_int8_are_kept_apart_and_float32_is_filed_as_it_was_before(tiny: Path) -> None:
    plain, whole, small = (
        Encoder(str(tiny)),
        Encoder(str(tiny), precision="float32"),
        Encoder(str(tiny), precision="int8"),
    )
    assert plain.identity() == whole.identity() != small.identity()
    assert "precision" not in plain.identity()


def test_training_leaves_the_float32_weights_that_int8_is_made_from(tiny, zebras, tmp_path) -> None:
    detector = fitted(tiny, "int8", "all", zebras(8), tmp_path)
    saved = torch.load(tmp_path / "int8" / "best.ckpt", weights_only=True)["state_dict"]
    assert all(value.dtype == torch.float32 for value in saved.values())
    refitted = [verdict.score for verdict in detector.predict(zebras(8))]
    detector.fit(zebras(8), tmp_path / "int8")  # what is done is loaded: into float32 again, and then made int8
    assert [verdict.score for verdict in detector.predict(zebras(8))] == refitted


@pytest.fixture
def batch(tiny: Path, zebras, tmp_path: Path) -> Batch:
    """All steps of some runs of which every second is the one before it but for one step."""
    runs, encoder = zebras(3), Encoder(str(tiny), 64)
    table = tokens_of(runs, StepWindows(64), encoder.tokenizer(), encoder.identity(), tmp_path)
    (whole,) = loader(Rows(table, [run.label for run in runs], SUPPORT_DESK.types), 10**6)
    return whole


def test_a_window_that_is_there_twice_is_read_once_and_gives_the_same_vectors(tiny: Path, batch: Batch) -> None:
    backbone = Backbone(Encoder(str(tiny), 64).load(), frozen=-1).eval()
    learning = backbone(batch).detach()
    every = backbone.real
    with torch.inference_mode():
        vectors = backbone(batch)
    windows = [tuple(window.tolist()) for window in batch.windows]
    assert every == sum(map(len, windows))
    assert backbone.real - every == sum(map(len, set(windows))) < every
    assert torch.allclose(vectors, learning, atol=1e-6)


def test_windows_of_the_same_tokens_with_other_spans_are_not_the_same(tiny: Path, batch: Batch) -> None:
    backbone = Backbone(Encoder(str(tiny), 64).load()).eval()
    first = batch.windows[0]
    batch.windows, batch.second = [first, first], [len(first), len(first)]
    batch.spans = [torch.tensor([[0, 2]]), torch.tensor([[2, 4]])]
    with torch.inference_mode():
        one, other = backbone(batch)
    assert not torch.allclose(one, other, atol=1e-3)
