"""Interaction contrasts: what is easy for everyone, and who is good at everything, must not count."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score
from statsmodels.stats.multitest import multipletests

from trajaudit.analysis import tabulate
from trajaudit.analysis.ordering import areas, contrasts, profiles
from trajaudit.analysis.table import Answers, Items
from trajaudit.trajectory import Fault, Label, Source, Step, Trajectory
from trajaudit.verdict import Verdict

TYPES = ("factual", "referential", "logical")


def _runs(count: int = 240) -> list[Trajectory]:
    """Runs in pairs of a group; of four, one is clean and one of each type; odd pairs of faults are silent."""
    steps = tuple(Step(i, f"thought {i}", None, None) for i in range(4))
    found = []
    for i in range(count):
        kind = (*TYPES, None)[i % 4]
        faults = () if kind is None else (Fault(kind, i % 3, "thought"),)
        label = Label(kind is not None, faults, kind is None or i // 8 % 2 == 0, "construction")
        found.append(Trajectory(f"r{i}", f"g{i // 2}", "task", steps, "answer", Source("toy"), label))
    return found


def _verdicts(runs: list[Trajectory], name: str, strength: dict[str, float], seed: int) -> list[Verdict]:
    """A detector's scores: noise, and for a faulty run its strength on the type."""
    random, found = np.random.default_rng(seed), []
    for run in runs:
        kind = run.label.faults[0].type if run.label and run.label.faults else None
        signal = random.normal() + (strength[kind] if kind else 0.0)
        score = float(1 / (1 + np.exp(-signal)))
        step, named = int(random.integers(4)), str(random.choice(TYPES))
        one = Verdict(run.id, run.content_hash, name, "s", faulty=score > 0.5, score=score, step=step, types=(named,))
        found.append(one)
    return found


def _tables(**strengths: dict[str, float]) -> tuple[Items, dict[str, list[Answers]]]:
    runs = _runs()
    seeds = {
        name: [tabulate(runs, _verdicts(runs, name, strength, 10 * i + j))[1][name] for j in range(2)]
        for i, (name, strength) in enumerate(strengths.items())
    }
    return tabulate(runs, ())[0], seeds


PREDICTED = {"a": ("factual",), "b": ("referential", "logical")}


def test_areas_and_type_f1_are_those_of_scikit_learn_averaged_over_seeds() -> None:
    items, seeds = _tables(a={"factual": 2, "referential": 0, "logical": 1}, b=dict.fromkeys(TYPES, 1.0))
    found = areas(items, seeds, 200)
    for kind in TYPES:
        for stratum in ("all", "silent", "loud"):
            own = (items.type == kind) & ((items.stratum == stratum) | (stratum == "all"))
            at = own | ~items.faulty
            expected = np.mean([roc_auc_score(items.faulty[at], one.score[at]) for one in seeds["a"]])
            assert found.value["a", kind, stratum] == pytest.approx(expected)
    rows = {(row.detector, row.type, row.stratum): row for row in profiles(items, seeds, found, 200, 0, 0.95)}
    silent = items.faulty & (items.stratum == "silent")
    gold = items.type[silent] == "logical"
    expected = np.mean([f1_score(gold, one.type[silent] == "logical") for one in seeds["b"]])
    assert rows["b", "logical", "silent"].type_f1.value == pytest.approx(expected)
    at = (items.type == "factual") & items.faulty
    expected = np.mean([(one.step == items.step)[at].mean() for one in seeds["a"]])
    assert rows["a", "factual", "all"].step.value == pytest.approx(expected)


def test_a_contrast_is_the_difference_of_differences() -> None:
    items, seeds = _tables(a={"factual": 2, "referential": 0, "logical": 1}, b=dict.fromkeys(TYPES, 1.0))
    found = areas(items, seeds, 200)
    a, b = ({kind: found.value[name, kind, "all"] for kind in TYPES} for name in ("a", "b"))
    own, _ = contrasts(found, PREDICTED, "all", 0.95)
    of_a, of_b = (x["factual"] - (x["referential"] + x["logical"]) / 2 for x in (a, b))
    assert own.difference.value == pytest.approx(of_a - of_b)
    assert (own.difference.low or 0) > 0


def test_a_detector_that_is_better_at_everything_has_no_contrast() -> None:
    items, seeds = _tables(a=dict.fromkeys(TYPES, 1.4), b=dict.fromkeys(TYPES, 0.3))
    rows = contrasts(areas(items, seeds, 500), PREDICTED, "all", 0.95)
    assert all(row.p_holm is not None and row.p_holm > 0.05 for row in rows)


def test_p_values_are_adjusted_as_statsmodels_adjusts_them() -> None:
    items, seeds = _tables(
        a={"factual": 1.2, "referential": 0.6, "logical": 0.6}, b=dict.fromkeys(TYPES, 1.0), c=dict.fromkeys(TYPES, 0.5)
    )
    rows = contrasts(areas(items, seeds, 500), {**PREDICTED, "c": ("logical",)}, "all", 0.95)
    expected = multipletests([row.p_value for row in rows], method="holm")[1]
    assert [row.p_holm for row in rows] == pytest.approx(list(expected))


def test_a_stratum_with_hardly_a_fault_has_no_area_and_says_why() -> None:
    labelled = [(run, run.label) for run in _runs() if run.label]
    runs = [run for run, label in labelled if label.stratum != "silent" or label.faults[0].type != "logical"]
    items = tabulate(runs, ())[0]
    seeds = {name: [tabulate(runs, _verdicts(runs, name, dict.fromkeys(TYPES, 1.0), 1))[1][name]] for name in "ab"}
    rows = contrasts(areas(items, seeds, 50), PREDICTED, "silent", 0.95)
    assert {row.difference.value for row in rows} == {None}
    assert "logical" in (rows[0].difference.reason or "")


def test_a_prediction_of_every_type_is_no_prediction() -> None:
    items, seeds = _tables(a=dict.fromkeys(TYPES, 1.0), b=dict.fromkeys(TYPES, 1.0))
    with pytest.raises(ValueError, match="some but not all"):
        contrasts(areas(items, seeds, 20), {"a": TYPES, "b": ("factual",)}, "all", 0.95)
