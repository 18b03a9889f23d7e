"""A hybrid from the command line: fitted under any split, over fitted and stored parts, and taken apart afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from trajaudit import cli
from trajaudit._fields import RecordError
from trajaudit.config import ConfigError
from trajaudit.dataset import Dataset
from trajaudit.runs import final_verdicts
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.trajectory import write_jsonl
from trajaudit.verbs.recipes.hybrid import hybrid
from trajaudit.verbs.reproduce import Reproduction

STATS = {"resamples": 100, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}
N = 90
SET = ("dataset=asset_ops", f"dataset.n={N}")
SMALL = (*SET, "split.n_folds=2", "calibration.folds=0", "logger=csv")
STORED = "+detector@detector.parts.stored=stored"
Train = Callable[..., Path]


def trainer(out: Path) -> Train:
    def called(*overrides: str) -> Path:
        """Train under ``out`` and return the folder of the training that this made."""
        before = set(out.rglob("manifest.json"))
        cli.run("train", f"paths.output_dir={out}", *overrides)
        return next(iter(set(out.rglob("manifest.json")) - before)).parent

    return called


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def train(out: Path) -> Train:
    pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_MODE", "disabled")
        return trainer(out)


@pytest.fixture(scope="module")
def words(train: Train) -> Path:
    return train(*SMALL, "detector=tfidf")


@pytest.fixture(scope="module")
def trained(train: Train, words: Path) -> Path:
    """A hybrid over the free parts, one more detector, and the stored verdicts of another."""
    more = ("+detector@detector.parts.length=length", STORED, f"detector.parts.stored.path={words}/predictions.jsonl")
    return train(*SMALL, "detector=hybrid", "detector.folds=2", *more)


@pytest.fixture(scope="module")
def made(trained: Path, out: Path) -> Reproduction:
    return hybrid(dataset=asset_ops(n=N), stats=STATS, runs=str(out / "train"))  # type: ignore[arg-type]


def rows(made: Reproduction, key: str) -> dict[str, dict[str, object]]:
    table = next(table for table in [made.claims, *made.tables] if table.key == key)
    return {str(row.cells[0]): dict(zip([c.key for c in table.columns], row.cells, strict=True)) for row in table.rows}


def test_every_run_gets_a_verdict_whose_step_and_type_come_from_the_parts(trained: Path) -> None:
    said = {verdict.trajectory_id: verdict for verdict in final_verdicts(trained / "predictions.jsonl")}
    faults = {run.id: run.label.first for run in asset_ops(n=N) if run.label is not None}
    assert set(said) == set(faults)
    right = [
        verdict.step == fault.step and verdict.types == (fault.type,)
        for name, verdict in said.items()
        if verdict.faulty and (fault := faults[name]) is not None
    ]
    assert len(right) > 20
    assert sum(right) / len(right) > 0.7


def test_what_the_parts_said_of_a_training_run_rests_on_no_run_of_its_group(trained: Path) -> None:
    fold = json.loads((trained / "fold-0" / "runs.json").read_text())
    learnt_from = final_verdicts(trained / "fold-0" / "model" / "learnt_from" / "conformance.jsonl")
    asked = final_verdicts(trained / "fold-0" / "model" / "asked" / "conformance.jsonl")
    assert {verdict.trajectory_id for verdict in learnt_from} == set(fold["train"])
    assert {verdict.trajectory_id for verdict in asked} == set(fold["test"])
    assert not set(fold["train"].values()) & set(fold["test"].values())
    # Two inner folds, so two process models, neither of which is the one that the tested runs were replayed against.
    assert len({v.spec_hash for v in learnt_from}) == 2
    assert {v.spec_hash for v in asked}.isdisjoint({v.spec_hash for v in learnt_from})


def test_the_whole_is_taken_apart_into_every_part_and_every_rest(made: Reproduction) -> None:
    parts = {"rules", "conformance", "claims", "signals", "length", "stored"}
    assert set(rows(made, "hybrid_groupkfold_parts")) == parts | {"all parts"}
    expected = {"all parts"} | {f"{part} alone" for part in parts} | {f"without {part}" for part in parts}
    assert set(rows(made, "hybrid_groupkfold_ablation")) == expected
    assert set(rows(made, "hybrid_groupkfold_types")["rules"]) > {"factual", "logical", "scope"}
    assert {"hybrid", "tfidf"} == set(rows(made, "trainings_groupkfold"))


def test_trainings_under_another_split_are_no_business_of_the_tables(
    made: Reproduction, out: Path, words: Path, tmp_path: Path
) -> None:
    """Two trainings that differ in labels alone would be the same to a table that asked for auditor, split and seed."""
    shutil.copytree(out / "train", tmp_path / "train")
    for labels in (10, 50):
        few = tmp_path / "train" / "few" / str(labels)
        shutil.copytree(words, few)
        config = yaml.safe_load((few / "config.yaml").read_text())
        config["split"] = {"_target_": "trajaudit.detectors.few_shot.few_shot", "labels": labels}
        (few / "config.yaml").write_text(yaml.safe_dump(config))
    again = hybrid(dataset=asset_ops(n=N), stats=STATS, runs=str(tmp_path / "train"))  # type: ignore[arg-type]
    assert [table.key for table in again.tables] == [table.key for table in made.tables]
    assert rows(again, "trainings_groupkfold") == rows(made, "trainings_groupkfold")


def test_rules_are_what_the_hybrid_misses_most_and_length_it_does_not_miss(made: Reproduction) -> None:
    found = rows(made, "hybrid_groupkfold_ablation")
    assert found["all parts"]["recall"].value - found["without rules"]["recall"].value > 0.1
    assert abs(found["all parts"]["recall"].value - found["without length"]["recall"].value) < 0.1
    assert "alone" not in rows(made, "hybrid_groupkfold_parts")


def test_a_fault_type_is_held_back_from_every_part_and_weight(train: Train, out: Path, trained: Path) -> None:
    train(
        *SET,
        "calibration.folds=0",
        "logger=csv",
        "detector=hybrid",
        "detector.folds=2",
        "split=leave_one_fault_type_out",
    )
    made = hybrid(dataset=asset_ops(n=N), stats=STATS, runs=str(out / "train"))  # type: ignore[arg-type]
    found = rows(made, "hybrid_leaveonefaulttypeout")
    assert set(found) == {"factual", "referential", "logical", "procedural", "scope"}
    assert all(row["shown"] is not None for row in found.values())
    assert found["referential"]["recall"].value > found["logical"]["recall"].value


def test_stored_verdicts_under_other_folds_are_refused_before_anything_is_fitted(
    train: Train, words: Path, out: Path
) -> None:
    path = f"detector.parts.stored.path={words}/predictions.jsonl"
    for split in ("split.seed=1", "split=leave_one_fault_type_out"):
        rest = SMALL if split == "split.seed=1" else (*SET, "calibration.folds=0", "logger=csv")
        with pytest.raises(RecordError, match="under the very same split"):
            train(*rest, "detector=hybrid", STORED, path, split)


def test_verdicts_that_nothing_tells_of_are_refused_unless_said_to_be_of_an_untrained_auditor(
    train: Train, words: Path, tmp_path: Path
) -> None:
    shutil.copy(words / "predictions.jsonl", tmp_path / "verdicts.jsonl")
    path = f"detector.path={tmp_path}/verdicts.jsonl"
    with pytest.raises(RecordError, match="expected beside it the record of every fold"):
        train(*SMALL, "detector=stored", path)
    assert (train(*SMALL, "detector=stored", path, "detector.untrained=true") / "predictions.jsonl").is_file()


def test_a_judges_own_run_says_that_it_learnt_from_no_label(out: Path, train: Train) -> None:
    cli.run("judge", f"paths.output_dir={out}", *SET, "judge=rules")
    (path,) = (out / "judge").rglob("verdicts.jsonl")
    folder = train(*SMALL, "detector=stored", f"detector.path={path}")
    said = final_verdicts(folder / "predictions.jsonl")
    assert {verdict.auditor for verdict in said} == {"rules"}
    assert yaml.safe_load((folder / "config.yaml").read_text())["detector"]["untrained"] is False


def test_rules_for_runs_whose_tools_no_engine_knows_are_refused(train: Train, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "runs.jsonl", asset_ops(n=40))
    mine = ("dataset=jsonl", f"dataset.path={tmp_path}/runs.jsonl", "dataset.taxonomy=trajel")
    with pytest.raises(ConfigError, match="none knows the tools"):
        train(*mine, "detector=hybrid")


def test_without_a_hybrids_training_there_is_nothing_to_take_apart(words: Path, tmp_path: Path) -> None:
    shutil.copytree(words, tmp_path / "words")
    data: Dataset = asset_ops(n=N)
    with pytest.raises(FileNotFoundError, match="no training of a hybrid on asset_ops"):
        hybrid(dataset=data, stats=STATS, runs=str(tmp_path))  # type: ignore[arg-type]
