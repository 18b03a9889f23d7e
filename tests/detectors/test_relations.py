"""Intermediate training on pairs, and the zero-shot detector that reads what it taught."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.nli import nli  # noqa: E402
from trajaudit.detectors.relations import PairRows, train_relations  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.taxonomy import TRAJEL  # noqa: E402


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    relation: str
    group: str = "g"


SIGNS = {"entailment": "thought", "neutral": "zebra", "contradiction": "lookup"}
PAIRS = [Pair(f"order {i}", f"{word} {i}", relation) for i in range(12) for relation, word in SIGNS.items()]
QUICK = Training("all", epochs=40, patience=None, lr=1e-2, encoder_lr=1e-2, batch_runs=6)


@pytest.fixture(scope="module")
def taught(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Encoder, dict]:
    """An encoder that takes three words for three relations, and what its training reported."""
    folder = tmp_path_factory.mktemp("relations")
    found = train_relations({"train": PAIRS, "dev": PAIRS[:9]}, Encoder(str(tiny), 64), QUICK, folder, window=32)
    return Encoder(str(folder / "encoder"), 64, relation=True), found


def test_what_was_taught_is_reported_and_loads_as_an_encoder_with_relations(taught) -> None:
    encoder, found = taught
    assert found["parts"]["dev"] == {"pairs": 9, "accuracy": 1.0, "macro_f1": 1.0, "commonest": pytest.approx(1 / 3)}
    assert encoder.load().relations == (0, 1, 2)


def test_zero_shot_keeps_contradiction_and_neutral_apart(taught, zebras, tmp_path: Path) -> None:
    """The tiny encoder takes "zebra" for neutral: the run that thinks of one is logical by Trajel's reading."""
    encoder, _ = taught
    detector = nli(
        encoder=encoder, training=QUICK, taxonomy=TRAJEL, cache=tmp_path, mode="zero_shot", window=64, overlap=8
    )
    assert detector.name == "nli_zero_shot"
    runs = zebras(3)
    detector.fit(runs, tmp_path)
    for verdict in detector.predict(runs):
        shares = [float(part.split()[-1]) for part in (verdict.evidence[0].note or "").split(", ")]
        assert len(shares) == 3
        assert sum(shares) == pytest.approx(1, abs=0.01)
        assert set(verdict.types) <= {"referential", "logical"}


def test_a_claim_is_entailed_as_soon_as_one_window_entails_it() -> None:
    from trajaudit.detectors.joining import _any_window

    entails, neutral = torch.tensor([0.9, 0.08, 0.02]).log(), torch.tensor([0.05, 0.9, 0.05]).log()
    joined = _any_window(torch.stack([neutral, entails, neutral, neutral]), torch.tensor([0, 0, 1, 1]), 2).exp()
    assert joined[0].argmax() == 0
    assert joined[1].argmax() == 1
    assert torch.allclose(joined.sum(-1), torch.ones(2))


def test_only_the_premise_of_a_pair_is_cut_and_the_cut_is_counted(tiny: Path) -> None:
    tokenizer = Encoder(str(tiny)).tokenizer()
    rows = PairRows([Pair("thought " * 40, "zebra " * 10, "neutral")], tokenizer, 32)
    assert len(rows.windows[0]) == 32
    assert rows.windows[0][rows.second[0] : -1] == tokenizer.encode("zebra " * 10, add_special_tokens=False)
    assert rows.unseen == 40 - (32 - 3 - 10)


def test_a_relation_head_on_a_frozen_encoder_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="trainer.tuning: relations are learnt by the encoder"):
        train_relations({"train": PAIRS}, Encoder(str(tiny), 64), Training(), tmp_path)
