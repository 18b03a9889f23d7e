"""A sliver of an encoder is trained: it starts as the encoder itself, and nothing else of it moves."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("transformers", reason="the detectors need transformers")

from trajaudit.detectors.backbone import freeze  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.detectors.tuning import SCALE, LowRank, merge, open_sliver  # noqa: E402

IDS = torch.tensor([[2, 10, 11, 12, 3]])


def opened(tiny: Path, settings: Training):
    model = Encoder(str(tiny), 64).load().model
    freeze(model, settings.trained_from)
    open_sliver(model, settings)
    return model


def output(model):
    with torch.inference_mode():
        return model(IDS).last_hidden_state


def test_a_low_rank_addition_starts_as_nothing_and_trains_query_and_value_alone(tiny: Path) -> None:
    plain, model = Encoder(str(tiny), 64).load().model, opened(tiny, Training("lora", rank=3))
    assert torch.equal(output(model), output(plain))
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert len(trained) == 2 * 2 * 2  # two layers, query and value, two matrices each
    assert sum(p.numel() for p in trained.values()) == 2 * 2 * 2 * 3 * 32
    assert all(name.rpartition(".")[0].endswith(("self.query", "self.value")) for name in trained)


def test_a_low_rank_addition_is_a_product_of_two_thin_matrices() -> None:
    """Worked by hand: W = I, down = [1 2], up = [3 0]^T: the addition to (1, 1) is SCALE * 3 * (1 + 2) in its first."""
    layer = LowRank(torch.nn.Linear(2, 2, bias=False), 1)
    with torch.no_grad():
        layer.base.weight.copy_(torch.eye(2))
        layer.down.copy_(torch.tensor([[1.0, 2.0]]))
        layer.up.copy_(torch.tensor([[3.0], [0.0]]))
    assert layer(torch.ones(1, 2)).tolist() == [[1 + SCALE * 9, 1.0]]


def test_merged_weights_say_the_same_in_the_form_of_the_encoder(tiny: Path) -> None:
    model = opened(tiny, Training("lora"))
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, LowRank):
                part.up.normal_()
    before = output(model)
    merge(model)
    assert torch.allclose(output(model), before, atol=1e-5)
    assert set(model.state_dict()) == set(Encoder(str(tiny), 64).load().model.state_dict())


def test_bitfit_trains_biases_and_norms(tiny: Path) -> None:
    model = opened(tiny, Training("biases"))
    for name, p in model.named_parameters():
        assert p.requires_grad == (name.endswith(".bias") or "LayerNorm" in name)


def test_an_encoder_without_query_and_value_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="tuning: lora knows query, value"):
        open_sliver(torch.nn.Sequential(torch.nn.Linear(2, 2)), Training("lora"))


def test_the_rank_is_part_of_what_identifies_a_training_only_where_it_decides() -> None:
    assert Training("lora", rank=4).spec() != Training("lora", rank=8).spec()
    assert Training("top", rank=4).spec() == Training("top", rank=8).spec()
