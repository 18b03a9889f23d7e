"""The recipe finds the trainings, tests the prediction and says what came out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from trajaudit.reports import render
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.trajectory import write_jsonl
from trajaudit.verbs.recipes.context_ordering import PREDICTED, context_ordering
from trajaudit.verdict import Verdict

STATS = {"resamples": 400, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}
PLANT = asset_ops(preset="varied", n=150, seed=8, wording="b", procedure="asset_ops")


def _train(root: Path, name: str, best: tuple[str, ...], seed: int) -> None:
    random, verdicts = np.random.default_rng(seed), []
    for run in PLANT:
        kind = run.label.faults[0].type if run.label and run.label.faults else ""
        score = float(np.clip(0.4 * random.random() + 0.5 * (kind in best), 0, 1))
        verdicts.append(Verdict(run.id, run.content_hash, name, "s", faulty=score > 0.5, score=score, step=0))
    folder = root / f"{name}-{seed}"
    folder.mkdir()
    write_jsonl(folder / "predictions.jsonl", verdicts)
    config = {
        "dataset": {"_target_": "x.asset_ops"},
        "split": {"_target_": "x.Transfer"},
        "detector": {"_target_": f"x.{name}", "seed": seed},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))


def test_detectors_that_are_what_theory_says_support_it(tmp_path: Path) -> None:
    for name, types in PREDICTED.items():
        for seed in (0, 1):
            _train(tmp_path, name, types, seed)
    _train(tmp_path, "length", (), 0)
    made = context_ordering(dataset=PLANT, stats=STATS, runs=str(tmp_path))  # type: ignore[arg-type]
    assert [finding.partition(":")[2].split(",")[0].strip() for finding in made.findings[:3]] == ["supported"] * 3
    shown = render(made.claims, "md")
    assert shown.count("supported") >= 3
    assert "placebo" in shown
    assert {"profile_all", "profile_silent", "profile_loud"} <= {table.key for table in made.tables}


def test_a_paradigm_without_a_training_is_asked_for_by_its_command(tmp_path: Path) -> None:
    _train(tmp_path, "nli", ("referential",), 0)
    with pytest.raises(ValueError, match="detector=bert_step,longformer"):
        context_ordering(dataset=PLANT, stats=STATS, runs=str(tmp_path))  # type: ignore[arg-type]
