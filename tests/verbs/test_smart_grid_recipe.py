"""The table of trained detectors: it finds trainings, ranks and compares them, and shows where they leave the label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from trajaudit._fields import RecordError
from trajaudit.dataset import Dataset, Procedure
from trajaudit.reports import render
from trajaudit.taxonomy import TRAJEL
from trajaudit.trajectory import Action, Label, Source, Step, Trajectory, write_jsonl
from trajaudit.verbs.recipes.smart_grid import smart_grid
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.trained import trained_runs
from trajaudit.verdict import Verdict

STATS = {"resamples": 200, "seed": 0, "level": 0.95, "method": "percentile", "reference": "rules"}


def _runs() -> list[Trajectory]:
    """Runs of 12 scenarios and two models; a faulty answer states what was not observed, but for one of each label."""
    found = []
    for i in range(96):
        faulty = i // 12 % 2 == 0
        seen = 200 + i
        said = seen + 7.5 if faulty != (i in (0, 12)) else seen
        step = Step(0, None, Action("lookup", {"asset": "A-1"}), f'{{"temperature": {seen}}}')
        answer = f"The temperature of A-1 is {said} degrees."
        source = Source("toy", f"model-{i % 2}")
        found.append(
            Trajectory(f"t{i}", f"g{i % 12}", "Check A-1.", (step,), answer, source, Label(faulty, origin="judge"))
        )
    return found


@pytest.fixture
def toy() -> Dataset:
    runs = _runs()
    return Dataset("toy", lambda: iter(runs), TRAJEL, Procedure("none", 1, ("Answer.",)))


Trained = Callable[..., None]


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    """Write a training: verdicts whose score is the label with some noise, or turned round where a run is odd."""

    def write(
        name: str, split: str, seed: int, noise: float, only: slice = slice(None), start: int | None = None
    ) -> None:
        random = np.random.default_rng([seed, start or 0])
        verdicts = []
        for run in _runs()[only]:
            odd = run.id in ("t0", "t12")
            signal = float((run.label is not None and run.label.faulty) != odd)
            score = float(np.clip((1 - noise) * (0.02 + 0.96 * signal) + noise * random.random(), 0, 1))
            verdicts.append(Verdict(run.id, run.content_hash, name, "s", faulty=score > 0.5, score=score))
        folder = tmp_path / (f"{name}-{split}-{seed}" + ("" if start is None else f"-{start}"))
        folder.mkdir()
        write_jsonl(folder / "predictions.jsonl", verdicts)
        config = {"dataset": {"_target_": "x.toy"}, "split": {"_target_": f"x.{split}", "seed": seed}}
        if start is not None:
            config["detector"] = {"_target_": f"x.{name}", "seed": start}
        (folder / "config.yaml").write_text(yaml.safe_dump(config))

    return write


@pytest.fixture
def made(toy: Dataset, trained: Trained, tmp_path: Path) -> Reproduction:
    for seed in (0, 1):
        trained("good", "GroupKFold", seed, 0.3)
    trained("poor", "GroupKFold", 0, 0.97)
    trained("good", "LeaveOneModelOut", 0, 0.3)
    trained("good", "PaperProtocol", 0, 0.3, slice(0, 40))
    return smart_grid(dataset=toy, stats=STATS, runs=str(tmp_path), show=5)  # type: ignore[arg-type]


def _table(made: Reproduction, key: str) -> list[dict[str, object]]:
    table = next(table for table in [made.claims, *made.tables] if table.key == key)
    return [dict(zip([c.key for c in table.columns], row.cells, strict=True)) for row in table.rows]


def test_every_training_is_a_row_best_first_and_the_claim_checker_stands_beside(made: Reproduction) -> None:
    rows = _table(made, "detectors")
    assert [row["detector"] for row in rows][-1] == "poor"
    assert {row["detector"] for row in rows} == {"good", "poor", "claims"}
    assert all(row["n"] == 96 for row in rows)


def test_a_detector_under_two_seeds_is_one_row_with_its_range(made: Reproduction) -> None:
    good = _table(made, "seeds")[0]
    assert (good["detector"], good["seeds"]) == ("good", 2)
    assert good["least"] <= good["auc"] <= good["most"]


def test_starts_on_the_same_folds_are_a_range_of_their_own_and_one_training_everywhere_else(
    toy: Dataset, trained: Trained, tmp_path: Path
) -> None:
    """A noise of 0.97 hides most of the label: only the start that agrees with the seed of its folds is asked."""
    for seed, start, noise in ((0, 0, 0.3), (0, 1, 0.97), (0, 2, 0.97), (1, 1, 0.3)):
        trained("good", "GroupKFold", seed, noise, start=start)
    trained("once", "GroupKFold", 0, 0.97, start=0)
    made = smart_grid(dataset=toy, stats=STATS, runs=str(tmp_path), show=5)  # type: ignore[arg-type]
    (starts,) = _table(made, "starts")
    assert (starts["detector"], starts["starts"]) == ("good", 3)
    good = next(row for row in _table(made, "seeds") if row["detector"] == "good")
    assert good["seeds"] == 2
    asked = next(row for row in _table(made, "detectors") if row["detector"] == "good")
    assert starts["most"] == pytest.approx(asked["roc_auc"].value)  # type: ignore[attr-defined]
    assert good["least"] > starts["least"] + 0.1  # type: ignore[operator]
    assert {"good, GroupKFold, seed 0", "good, GroupKFold, seed 0, started from 2"} <= made.files.keys()
    with pytest.raises(RecordError, match="seed 0 is in"):
        trained_runs(tmp_path, "toy")


def test_models_left_out_are_told_apart(made: Reproduction) -> None:
    assert [(row["model"], row["n"]) for row in _table(made, "models")] == [("model-0", 48), ("model-1", 48)]


def test_both_protocols_stand_side_by_side_with_what_a_small_test_can_tell(made: Reproduction) -> None:
    rows = _table(made, "protocols")
    assert [(row["protocol"], row["n"]) for row in rows] == [("clean", 96), ("clean", 96), ("published", 40)]
    assert all(row["low"] <= row["auc"].value <= row["high"] for row in rows)


def test_what_of_a_published_score_is_leak_is_told_for_every_kind_of_detector(
    toy: Dataset, trained: Trained, tmp_path: Path
) -> None:
    """Noise of 0.97 leaves an AUC near one half; of 0.3 it leaves 0.96 or more: the difference is the leak."""
    for name in ("bert_step", "nli", "longformer"):
        trained(name, "GroupKFold", 0, 0.97)
        trained(name, "PaperProtocol", 0, 0.3, slice(0, 40))
    trained("tfidf", "GroupKFold", 0, 0.97)
    trained("length", "PaperProtocol", 0, 0.3, slice(0, 40))
    made = smart_grid(dataset=toy, stats=STATS, runs=str(tmp_path), show=5)  # type: ignore[arg-type]
    rows = {row["detector"]: row for row in _table(made, "leak")}
    assert list(rows) == ["bert_step", "length", "longformer", "nli"]
    assert all(rows[name]["leak"] > 0.2 for name in ("bert_step", "nli", "longformer"))
    assert all(0 < rows[name]["published_width"] < rows[name]["clean_width"] for name in ("bert_step", "nli"))
    assert rows["length"]["clean"] is rows["length"]["leak"] is None


def test_runs_on_which_both_auditors_leave_the_label_are_shown_with_evidence(made: Reproduction) -> None:
    rows = _table(made, "disagreements")
    assert {(row["run"], row["label"]) for row in rows} == {("t12", "clean"), ("t0", "faulty")}
    flagged = next(row for row in rows if row["label"] == "clean")
    assert "219.5" in str(flagged["answer"])
    assert "unsupported" in str(flagged["claims"]) or "contradicted" in str(flagged["claims"])


def test_the_papers_rows_are_listed_and_none_is_filled_in(made: Reproduction) -> None:
    assert {line.verdict for line in made.lines} == {"not reproducible here"}
    assert len(made.lines) == 19
    assert all(render(table, "md") for table in [made.claims, *made.tables])


def test_a_training_that_occurs_twice_is_refused_and_none_at_all_is_said(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="trajaudit train"):
        trained_runs(tmp_path, "toy")
    trained("good", "GroupKFold", 0, 0.3)
    (again := tmp_path / "again").mkdir()
    for file in (tmp_path / "good-GroupKFold-0").iterdir():
        (again / file.name).write_bytes(file.read_bytes())
    assert trained_runs(tmp_path / "again", "toy")[0].auditor == "good"
    with pytest.raises(RecordError, match="seed 0 is in"):
        trained_runs(tmp_path, "toy")


def test_verdicts_of_two_auditors_are_no_training(trained: Trained, tmp_path: Path) -> None:
    trained("good", "GroupKFold", 0, 0.3)
    run = _runs()[0]
    said = Verdict(run.id, run.content_hash, "a", "s", faulty=True, score=0.9)
    path = tmp_path / "good-GroupKFold-0" / "predictions.jsonl"
    write_jsonl(path, [said, replace(said, auditor="b", spec_hash="t")])
    with pytest.raises(RecordError, match="one auditor"):
        trained_runs(tmp_path, "toy")
