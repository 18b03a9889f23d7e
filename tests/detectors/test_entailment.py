"""A relation model of a sliver of an encoder: taught, kept, loaded, asked."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")

from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.entailment import RelationModel  # noqa: E402
from trajaudit.detectors.fitting import BEST  # noqa: E402
from trajaudit.detectors.relations import train_relations  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    relation: str


SIGNS = {"entailment": "thought", "neutral": "zebra", "contradiction": "lookup"}
PAIRS = [Pair(f"order {i}", f"{word} {i}", relation) for i in range(12) for relation, word in SIGNS.items()]
LORA = Training("lora", rank=4, epochs=30, patience=None, lr=1e-2, encoder_lr=2e-2, batch_runs=6)


@pytest.fixture(scope="module")
def model(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> RelationModel:
    folder = tmp_path_factory.mktemp("relations")
    encoder = Encoder(str(tiny), 64)
    train_relations({"train": PAIRS, "dev": PAIRS[:9]}, encoder, LORA, folder, window=32)
    weights = torch.load(folder / BEST, weights_only=True)["state_dict"]
    assert sum(value.numel() for value in weights.values()) < 5000
    return RelationModel(encoder, LORA, weights, "here", window=32)


def test_it_tells_the_relations_apart_that_it_was_taught(model: RelationModel) -> None:
    for place, word in enumerate(SIGNS.values()):
        shares = model.shares(["order 3"], f"{word} 3")
        assert sum(shares) == pytest.approx(1)
        assert shares.index(max(shares)) == place


def test_the_sentence_is_whole_however_long_the_premises_are(model: RelationModel) -> None:
    premises = [f"order {i} thought" for i in range(40)]
    windows, second = model._windows(premises, "lookup 3")
    claim = model.tokenizer.encode("lookup 3", add_special_tokens=False)
    assert len(windows) == model.most
    for window, start in zip(windows, second, strict=True):
        assert len(window) <= 32
        assert window[start:-1].tolist() == claim


def test_without_premises_there_is_an_answer_all_the_same(model: RelationModel) -> None:
    assert sum(model.shares([], "zebra 1")) == pytest.approx(1)


def test_the_folder_of_a_sliver_loads_as_a_plain_encoder_with_relations(tiny: Path, tmp_path: Path) -> None:
    train_relations({"train": PAIRS, "dev": PAIRS[:9]}, Encoder(str(tiny), 64), LORA, tmp_path, window=32)
    assert Encoder(str(tmp_path / "encoder"), 64, relation=True).load().relations == (0, 1, 2)
