"""Batches: every run once, a bounded number of tokens, little padding, and scores that do not depend on any of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.backbone import Backbone, freeze  # noqa: E402
from trajaudit.detectors.batches import Plan, Rows, chunks, loader  # noqa: E402
from trajaudit.detectors.encoded import tokens_of  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.recipes import StepWindows  # noqa: E402
from trajaudit.trajectory import Trajectory  # noqa: E402

TYPES = ("wrong_tool",)


def rows_of(runs: list[Trajectory], tiny: Path, folder: Path, budget: int | None = None) -> Rows:
    table = tokens_of(runs, StepWindows(64), Encoder(str(tiny)).tokenizer(), "tiny", folder)
    return Rows(table, [run.label for run in runs], TYPES, budget)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), st.integers(300, 2000))
def test_chunks_hold_each_window_once_and_pad_little(lengths: list[int], budget: int) -> None:
    found = chunks(lengths, budget)
    assert sorted(window for chunk in found for window in chunk) == list(range(len(lengths)))
    for chunk in found:
        longest, shortest = max(lengths[w] for w in chunk), min(lengths[w] for w in chunk)
        assert longest * len(chunk) <= max(budget, longest)
        assert longest <= max(1.25 * shortest, shortest + 8)


def test_an_epoch_holds_every_run_once_within_the_budget_and_depends_on_seed_and_epoch_alone(
    zebras, tiny: Path, tmp_path: Path
) -> None:
    rows = rows_of(zebras(12), tiny, tmp_path)
    plan = Plan(rows, budget=400, most=5, shuffle=True, seed=0)
    first = plan.batches()
    assert sorted(row for batch in first for row in batch) == list(range(24))
    assert all(len(batch) <= 5 and rows.sizes[batch].sum() <= 400 for batch in first)
    plan.set_epoch(1)
    assert plan.batches() != first
    again = Plan(rows_of(zebras(12), tiny, tmp_path), budget=400, most=5, shuffle=True, seed=0)
    assert again.batches() == first


def test_a_vector_does_not_depend_on_what_shares_its_batch(zebras, tiny: Path, tmp_path: Path) -> None:
    backbone = Backbone(Encoder(str(tiny)).load()).eval()
    rows = rows_of(zebras(4), tiny, tmp_path)
    found = []
    for budget in (64, 10_000):
        own = {}
        for batch in loader(rows, budget):
            vectors = backbone(batch)
            for place, row in enumerate(batch.rows.tolist()):
                own[row] = vectors[batch.run == place]
        found.append(own)
    assert all(torch.allclose(found[0][row], found[1][row], atol=1e-5) for row in range(8))


def test_windows_are_padded_to_their_like_and_not_to_the_longest(zebras, tiny: Path, tmp_path: Path) -> None:
    backbone = Backbone(Encoder(str(tiny)).load()).eval()
    rows = rows_of(zebras(4), tiny, tmp_path)
    (batch,) = loader(rows, 10_000)
    backbone(batch)
    lengths = [len(window) for window in batch.windows]
    assert backbone.padding is not None
    assert 0 <= backbone.padding <= 0.2
    assert backbone.real == sum(lengths)
    assert backbone.padded < len(lengths) * 64


def test_a_run_beyond_the_budget_is_thinned_out_in_training_and_keeps_its_faulty_step(
    zebras, tiny: Path, tmp_path: Path
) -> None:
    runs = [run for run in zebras(6) if run.label.faulty]
    rows = rows_of(runs, tiny, tmp_path, budget=60)
    for epoch in range(3):
        rows.epoch = epoch
        batch = rows[range(len(runs))]
        for place, run in enumerate(runs):
            units = batch.unit[batch.run == place].tolist()
            assert run.label.first.step in units
            assert len(units) < len(run.steps)


def test_what_is_frozen_is_the_embeddings_and_the_lowest_layers(tiny: Path) -> None:
    model = Encoder(str(tiny)).load().model
    freeze(model, 1)
    trained = {
        name.split(".")[2] if "layer" in name else name for name, p in model.named_parameters() if p.requires_grad
    }
    assert trained == {"1", "pooler.dense.weight", "pooler.dense.bias"}
    with pytest.raises(ValueError, match="frozen_layers: expected at most 2, got 3"):
        freeze(model, 3)
