"""The auditors that cost nothing, as commands: unfitted claims, the fits that ship, and the experiment behind them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trajaudit import cli
from trajaudit.config import ConfigError
from trajaudit.datasets.trajectory_judge import trajectory_judge
from trajaudit.detectors.adapters import read
from trajaudit.runs import final_verdicts
from trajaudit.testbeds.support_desk.dataset import support_desk
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.free_auditors import MODELS
from trajaudit.verbs.recipes.blind_spot import blind_spot
from trajaudit.verbs.stats import Stats
from trajaudit.verdict import Verdict

VARIED = ("dataset.preset=varied", "dataset.wording=b", "dataset.n=64", "dataset.seed=91")


def judged(tmp_path: Path, *overrides: str) -> list[Verdict]:
    assert cli.run("judge", f"paths.output_dir={tmp_path}", *overrides) == 0
    (path,) = tmp_path.glob("judge/*/*/verdicts.jsonl")
    return list(final_verdicts(path))


def labelled() -> dict[str, Trajectory]:
    return {run.id: run for run in support_desk(preset="varied", wording="b", n=64, seed=91)}


def test_the_unfitted_claim_checker_needs_no_fit_and_flags_no_healthy_reply(tmp_path: Path) -> None:
    verdicts, runs = judged(tmp_path, "judge=claims", *VARIED), labelled()
    kinds = {run.label.first.type if run.label and run.label.first else "clean": set() for run in runs.values()}
    for verdict in verdicts:
        label = runs[verdict.trajectory_id].label
        kinds[label.first.type if label and label.first else "clean"].add(verdict.faulty)
    assert kinds["clean"] == {False}
    assert True in kinds["unsupported_claim"]


def test_the_shipped_hybrid_names_fault_and_step_of_runs_in_words_it_never_saw(tmp_path: Path) -> None:
    runs = labelled()
    right = [
        (verdict.step, verdict.types[:1]) == (label.first.step, (label.first.type,))
        if label.first
        else not verdict.faulty
        for verdict in judged(tmp_path, "judge=hybrid", *VARIED)
        if (label := runs[verdict.trajectory_id].label) is not None
    ]
    assert sum(right) >= 0.9 * len(right)


def test_the_shipped_process_model_raises_no_alarm_on_healthy_detours(tmp_path: Path) -> None:
    runs = labelled()
    for verdict in judged(tmp_path, "judge=conformance", *VARIED):
        label = runs[verdict.trajectory_id].label
        acted = label is not None and label.first is not None and label.first.component == "action"
        assert verdict.faulty is acted


def test_an_unknown_fitted_set_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such fitted set or folder 'support_dek'.*did you mean 'support_desk'"):
        judged(tmp_path, "judge=hybrid", "judge.models=support_dek", *VARIED)


def test_fitted_sets_are_small_plain_json() -> None:
    for path in MODELS.glob("*/*.json"):
        assert path.stat().st_size < 100_000
        json.loads(path.read_text(encoding="utf-8"))


def test_the_shipped_hybrid_finds_the_silent_faults_of_the_published_runs_without_a_false_alarm(
    data_dir: Path, tmp_path: Path
) -> None:
    published = ("dataset=trajectory_judge", f"paths.data_dir={data_dir}", "dataset.procedure=support_desk_standing")
    verdicts = {verdict.trajectory_id: verdict for verdict in judged(tmp_path, "judge=hybrid", *published)}
    flagged: dict[str, list[bool]] = {"clean": [], "silent": [], "loud": []}
    for run in trajectory_judge(data_dir=str(data_dir)):
        assert run.label is not None
        flagged[run.label.stratum].append(verdicts[run.id].faulty is True)
    assert sum(flagged["clean"]) == 0
    assert sum(flagged["silent"]) >= 0.98 * len(flagged["silent"])


def test_the_experiment_leaves_its_fits_and_a_table_of_each_set(data_dir: Path, tmp_path: Path) -> None:
    stats: Stats = {"resamples": 100, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}
    dataset = support_desk(preset="paper", n=24, seed=5)
    made = blind_spot(
        dataset=dataset, stats=stats, data_dir=str(data_dir), train=160, test=24, models=str(tmp_path / "models")
    )
    kept = {path.name for path in (tmp_path / "models").iterdir()}
    fitted = {"process_model.json", "claim_sources.json", "hybrid.json"}
    assert kept == {*fitted, "adapter.json", "README.md"}
    facts = read(tmp_path / "models").facts
    assert set(facts.files) == fitted
    assert [(one["set"], one["runs"]) for one in facts.figures] == [("bank_a", 24), ("bank_b", 24), ("published", 24)]
    assert facts.trained_on["runs"] == 160
    keys = {table.key for table in made.tables}
    assert {"bank_a_summary", "bank_b_summary", "published_summary", "bank_b_ablation", "left_out"} <= keys
