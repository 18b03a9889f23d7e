"""The plant as a dataset, and what its runs give away unread."""

from __future__ import annotations

import pytest

from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops import generate
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.testbeds.asset_ops.plan import PRESETS, slots
from trajaudit.testbeds.probes import probe


def test_the_dataset_brings_its_procedure_its_taxonomy_and_its_rules():
    data = asset_ops(n=5)
    assert (data.taxonomy, data.rules, data.size) == (TRAJEL, "asset_ops", 5)
    assert [run.id for run in data] == [run.id for run in data.prefix(5)] == [run.id for run in generate(n=5)]
    assert "TSFM works on a history that IoT has fetched before" in data.procedure.text
    assert all(agent in data.procedure.text for agent in ("Orchestrator", "IoT", "FSMR", "TSFM", "WO", "Summariser"))
    with pytest.raises(ValueError, match="wording: expected one of a, b"):
        asset_ops(wording="c")  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", PRESETS)
def test_no_run_is_made_twice_whatever_the_size_of_the_set(preset: str):
    for n in range(1, 400):
        made = list(slots(preset, n, seed=7))
        assert len(set(made)) == len(made) == n


def test_ids_questions_and_thoughts_give_nothing_away():
    runs = list(generate("varied", 1050, 7))
    for result in probe(runs, ("ids", "goal", "thoughts")):
        assert not result.leaks, result
        assert result.high - result.low < 0.12
