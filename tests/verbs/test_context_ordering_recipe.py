"""The recipe finds trainings, puts the hypothesis to the test, and gives baselines the same contrasts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import yaml
from statsmodels.stats.multitest import multipletests

from trajaudit._fields import RecordError
from trajaudit.analysis.interactions import ANY
from trajaudit.reports import Table, render
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.trajectory import write_jsonl
from trajaudit.verbs.recipes.context_ordering import PREDICTED, context_ordering
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verdict import Verdict

STATS = {"resamples": 200, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}
TARGET = "trajaudit.testbeds.asset_ops.dataset.asset_ops"
TESTED = {"_target_": TARGET, "preset": "varied", "n": 240, "seed": 8, "wording": "b"}
LEARNT = {**TESTED, "n": 120, "seed": 7, "wording": "a"}
PLANT = asset_ops(preset="varied", n=240, seed=8, wording="b")
RUNS = list(PLANT)


def _train(
    root: Path, name: str, best: Mapping[str, float], seed: int = 0, dataset: Mapping[str, object] = TESTED
) -> None:
    """Write a training whose scores are noise, raised on some types, and that points at the fault's step."""
    random, verdicts = np.random.default_rng((seed, len(name))), []
    for run in RUNS:
        assert run.label is not None
        raised = sum(best.get(fault.type, 0.0) for fault in run.label.faults)
        score = float(np.clip(0.5 * random.random() + raised, 0, 1))
        at = run.label.first.step if run.label.first is not None else 0
        places = tuple(0.9 if step.index == at else 0.1 for step in run.steps)
        said = Verdict(run.id, run.content_hash, name, "s", faulty=score > 0.5, score=score, step_scores=places)
        verdicts.append(said)
    (folder := root / f"{name}-{seed}").mkdir()
    write_jsonl(folder / "predictions.jsonl", verdicts)
    config = {
        "dataset": dict(dataset),
        "trained_on": LEARNT,
        "limit": None,
        "split": {"_target_": "x.Transfer"},
        "detector": {"_target_": f"x.{name}", "seed": seed},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))


def _made(root: Path) -> Reproduction:
    return context_ordering(dataset=PLANT, stats=STATS, runs=str(root))  # type: ignore[arg-type]


def _rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip([column.key for column in table.columns], row.cells, strict=True)) for row in table.rows]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """Paradigms that are what theory says, under two seeds; TF-IDF that is good at everything."""
    root = tmp_path_factory.mktemp("trained")
    for name, types in PREDICTED.items():
        for seed in (0, 1):
            _train(root, name, dict.fromkeys(types, 0.4), seed)
    _train(root, "tfidf", dict.fromkeys([kind for types in PREDICTED.values() for kind in types], 0.4))
    return _made(root)


def test_paradigms_that_are_what_theory_says_support_it_and_a_placebo_does_not(made: Reproduction) -> None:
    rows = _rows(made.claims)
    assert [row["verdict"] for row in rows if row["family"] == "prediction"] == ["supported"] * 3
    assert {row["auditor"] for row in rows if row["family"] == "placebo"} == {"tfidf"}
    assert [row["stratum"] for row in rows if row["family"] == "prediction by stratum"] == ["silent", "loud"] * 3
    assert all(finding.split(": ")[1].startswith("supported") for finding in made.findings[:3])


def test_a_prediction_turned_round_comes_out_as_its_opposite(tmp_path: Path) -> None:
    for name, types in PREDICTED.items():
        _train(tmp_path, name, {kind: 0.4 for of in PREDICTED.values() for kind in of if kind not in types})
    assert [row["verdict"] for row in _rows(_made(tmp_path).claims)][:3] == ["opposite"] * 3


def test_p_values_of_a_family_are_adjusted_as_statsmodels_adjusts_them(made: Reproduction) -> None:
    for family in ("prediction", "prediction by stratum", "placebo"):
        rows = [row for row in _rows(made.claims) if row["family"] == family]
        pairs = [(row["p"].value, row["p_holm"].value) for row in rows]  # type: ignore[attr-defined]
        raw, adjusted = zip(
            *(pair for pair in pairs if pair[0] is not None), strict=True
        )  # an empty cell is not tested
        assert adjusted == pytest.approx(list(multipletests(raw, method="holm")[1]))


def test_every_auditor_has_a_row_a_stratum_and_the_free_ones_stand_beside(made: Reproduction) -> None:
    tables = {table.key: table for table in made.tables}
    assert list(tables) == ["auc", "step_exact", "step_within_one", "type_f1"]
    names = {row["auditor"] for row in _rows(tables["auc"])}
    assert names == {*PREDICTED, "tfidf", "rules", "conformance", "claims"}
    assert len(tables["auc"].rows) == 3 * len(names)
    assert all(render(table, "md") for table in (made.claims, *made.tables))


def test_a_step_is_named_of_runs_below_the_threshold_too(made: Reproduction) -> None:
    exact = next(table for table in made.tables if table.key == "step_exact")
    row = next(row for row in _rows(exact) if (row["auditor"], row["stratum"]) == ("tfidf", "all"))
    assert row[ANY.replace(" ", "_")].value == 1  # type: ignore[attr-defined]


def test_paradigms_are_compared_with_the_same_part_of_them_trained(tmp_path: Path) -> None:
    for name, types in PREDICTED.items():
        _train(tmp_path, name, dict.fromkeys(types, 0.4))
    for name in ("bert_step_top", "nli_top"):
        _train(tmp_path, name, {"factual": 0.4})
    contrasts = _rows(_made(tmp_path).claims)
    assert {row["auditor"] for row in contrasts if row["family"] == "prediction"} == set(PREDICTED)


def test_what_a_further_trained_paradigm_gains_is_its_area_less_the_plain_ones(tmp_path: Path) -> None:
    for name, types in PREDICTED.items():
        _train(tmp_path, name, dict.fromkeys(types, 0.4))
    _train(tmp_path, "nli_relations", {"logical": 0.4, "factual": 0.1})
    _train(tmp_path, "bert_step_top", {"factual": 0.4, "scope": 0.4})
    made = _made(tmp_path)
    areas = {row["auditor"]: row for row in _rows(made.tables[1]) if row["stratum"] == "all"}
    gains = {row["auditor"]: row for row in _rows(made.tables[0])}
    assert {name: row["over"] for name, row in gains.items()} == {"bert_step_top": "bert_step", "nli_relations": "nli"}
    for name, row in gains.items():
        for kind in (*PLANT.taxonomy.types, "any_type"):
            expected = areas[name][kind].value - areas[row["over"]][kind].value  # type: ignore[attr-defined,index]
            assert row[kind].value == pytest.approx(expected)  # type: ignore[attr-defined]
    assert gains["bert_step_top"]["scope"].low > 0  # type: ignore[attr-defined]
    assert gains["nli_relations"]["referential"].high < 0  # type: ignore[attr-defined]


def test_a_paradigm_without_a_training_is_asked_for_by_its_command(tmp_path: Path) -> None:
    _train(tmp_path, "nli", {"referential": 0.4})
    with pytest.raises(ValueError, match="detector=bert_step,longformer"):
        _made(tmp_path)


def test_trainings_that_were_tested_on_other_runs_are_not_laid_side_by_side(tmp_path: Path) -> None:
    _train(tmp_path, "nli", {"referential": 0.4})
    _train(tmp_path, "bert_step", {"factual": 0.4}, dataset={**TESTED, "n": 230})
    with pytest.raises(RecordError, match=r"nli-0: dataset: expected"):
        _made(tmp_path)
