"""Weighted sums of metrics, and the interaction contrasts made of them, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from trajaudit.analysis import tabulate
from trajaudit.analysis.combinations import combined, mean_of
from trajaudit.analysis.interactions import ANY, interaction, measured, profile
from trajaudit.analysis.resampling import design
from trajaudit.analysis.statistic import undefined
from trajaudit.analysis.table import Answers, Items
from trajaudit.trajectory import Fault, Label, Source, Step, Trajectory
from trajaudit.verdict import Verdict

TYPES = ("factual", "logical", "scope")


def _runs(count: int = 160) -> list[Trajectory]:
    """Two runs a group; of every four, one is clean and one of each type; in turns four are silent and four loud."""
    steps = tuple(Step(i, f"thought {i}", None, None) for i in range(4))
    found = []
    for i in range(count):
        kind = (*TYPES, None)[i % 4]
        faults = () if kind is None else (Fault(kind, i % 3, "thought"),)
        label = Label(kind is not None, faults, kind is None or i // 4 % 2 == 0)
        found.append(Trajectory(f"r{i}", f"g{i // 2}", "task", steps, "answer", Source("toy"), label))
    return found


def _said(name: str, strength: dict[str, float], seed: int = 0) -> tuple[Items, Answers]:
    """An auditor whose scores are noise, raised by its strength on the run's type; steps and types are drawn."""
    runs, random, verdicts = _runs(), np.random.default_rng(seed), []
    for run in runs:
        assert run.label is not None
        raised = random.normal() + sum(strength[fault.type] for fault in run.label.faults)
        score = float(1 / (1 + np.exp(-raised)))
        at, kind = int(random.integers(4)), str(random.choice(TYPES))
        verdicts.append(
            Verdict(run.id, run.content_hash, name, "s", faulty=score > 0.5, score=score, step=at, types=(kind,))
        )
    items, answers = tabulate(runs, verdicts)
    return items, answers[name]


def test_an_area_is_that_of_the_cells_faults_against_all_clean_runs() -> None:
    items, said = _said("a", {"factual": 2.0, "logical": 0.0, "scope": 1.0})
    at = ~items.faulty | ((items.type == "factual") & (items.stratum == "silent"))
    expected = roc_auc_score(items.faulty[at], said.score[at])
    assert measured(items, said, "factual", "silent")["auc"].value == pytest.approx(expected)


def test_steps_are_asked_of_every_fault_of_a_cell_and_naming_none_is_a_miss() -> None:
    items, said = _said("a", dict.fromkeys(TYPES, 0.0))
    loud = items.faulty & (items.stratum == "loud") & (items.type == "scope")
    off = np.abs(said.step - items.step)[loud]
    found = measured(items, said, "scope", "loud")
    assert found["step_exact"].value == pytest.approx((off == 0).mean())
    assert found["step_within_one"].value == pytest.approx((off <= 1).mean())
    silent = Answers(**{**said.__dict__, "step": np.full(len(items.ids), -1)})
    assert measured(items, silent, "scope", "loud")["step_within_one"].value == 0


def test_the_f1_of_a_type_is_over_the_faulty_runs_of_the_stratum() -> None:
    items, said = _said("a", dict.fromkeys(TYPES, 1.0))
    at = items.faulty & (items.stratum == "silent")
    named = np.where(said.flagged, said.type, "")[at]
    found = measured(items, said, "logical", "silent")["type_f1"].value
    assert found == pytest.approx(f1_score(items.type[at] == "logical", named == "logical"))
    right = measured(items, said, ANY, "silent")["type_f1"].value
    assert right == pytest.approx((named == items.type[at]).mean())


def test_a_cell_without_a_fault_is_undefined_and_says_of_what() -> None:
    items, said = _said("a", dict.fromkeys(TYPES, 1.0))
    empty = measured(items, said, "referential", "loud")
    assert {one.value for one in empty.values()} == {None}
    assert empty["auc"].reason == "no loud fault of referential"


AREAS = {"a/x": 0.9, "a/y": 0.6, "a/z": 0.7, "b/x": 0.8, "b/y": 0.8, "b/z": 0.7, "c/x": 0.5, "c/y": 0.5, "c/z": 0.7}
"""On x: a is at 0.25 above its other types, b at 0.05, c at -0.1."""


def _weighed(weights: dict[str, float]) -> float:
    return sum(AREAS[name] * weight for name, weight in weights.items())


def test_a_contrast_is_a_profile_less_the_mean_profile_of_the_rivals() -> None:
    cells = {name: {kind: [f"{name}/{kind}"] for kind in "xyz"} for name in "abc"}
    assert _weighed(profile(cells["a"], ["x"])) == pytest.approx(0.25)
    assert _weighed(interaction(cells["a"], [cells["b"], cells["c"]], ["x"])) == pytest.approx(0.25 - (0.05 - 0.1) / 2)
    assert _weighed(interaction(cells["b"], [cells["c"]], ["x", "y"])) == pytest.approx(0.1 - (-0.2))


def test_seeds_are_averaged_before_types_are() -> None:
    cells = {"x": ["a/x", "b/x"], "y": ["a/y", "b/y", "c/y"], "z": ["a/z"]}
    expected = (0.9 + 0.8) / 2 - ((0.6 + 0.8 + 0.5) / 3 + 0.7) / 2
    assert _weighed(profile(cells, ["x"])) == pytest.approx(expected)


def test_what_is_easy_for_everyone_and_who_is_good_at_everything_do_not_count() -> None:
    level = {"a": 0.1, "b": 0.0, "c": -0.1}
    easy = {"x": 0.8, "y": 0.6, "z": 0.5}
    areas = {f"{name}/{kind}": easy[kind] + level[name] for name in level for kind in easy}
    cells = {name: {kind: [f"{name}/{kind}"] for kind in easy} for name in level}
    weights = interaction(cells["a"], [cells["b"], cells["c"]], ["x"])
    assert sum(areas[name] * weight for name, weight in weights.items()) == pytest.approx(0)


@pytest.mark.parametrize("types", [[], ["x", "y", "z"], ["w"]])
def test_a_prediction_of_every_type_or_of_none_is_no_prediction(types: list[str]) -> None:
    cells = {kind: [f"a/{kind}"] for kind in "xyz"}
    with pytest.raises(ValueError, match="types: expected some of x, y, z, but not all"):
        profile(cells, types)


def test_an_auditor_alone_has_no_interaction() -> None:
    with pytest.raises(ValueError, match="rivals"):
        interaction({"x": ["a/x"], "y": ["a/y"]}, [], ["x"])


def test_a_planted_interaction_is_found_and_its_absence_is_not() -> None:
    strengths = {"made": {"factual": 2.5, "logical": 0.3, "scope": 0.3}, "flat": dict.fromkeys(TYPES, 1.0)}
    strengths["good"] = dict.fromkeys(TYPES, 2.0)
    statistics, cells = {}, {name: {kind: [f"{name}/{kind}"] for kind in TYPES} for name in strengths}
    for seed, (name, strength) in enumerate(strengths.items()):
        items, said = _said(name, strength, seed)
        statistics |= {f"{name}/{kind}": measured(items, said, kind, "all")["auc"] for kind in TYPES}
    wanted = [interaction(cells[name], [cells["flat"]], ["factual"]) for name in ("made", "good")]
    made, good = combined(design(items), statistics, wanted, resamples=500)
    assert made.estimate.low is not None
    assert made.estimate.low > 0
    assert made.p_value is not None
    assert made.p_value < 0.01
    assert good.p_value is not None
    assert good.p_value > 0.05


def test_a_mean_is_undefined_where_a_part_of_it_is_and_an_unknown_name_is_an_error() -> None:
    items, said = _said("a", dict.fromkeys(TYPES, 1.0))
    statistics = {"a": measured(items, said, "scope", "all")["auc"], "b": undefined(len(items.ids), "nobody answered")}
    (found,) = combined(design(items), statistics, [mean_of(["a", "b"])], resamples=50)
    assert (found.estimate.value, found.estimate.reason, found.p_value) == (None, "nobody answered", None)
    with pytest.raises(ValueError, match="no statistic 'c'"):
        combined(design(items), statistics, [{"c": 1.0}], resamples=50)


def test_a_single_rate_of_one_keeps_an_interval_with_a_width() -> None:
    items, said = _said("a", dict.fromkeys(TYPES, 1.0))
    sure = Answers(**{**said.__dict__, "step": items.step})
    (found,) = combined(
        design(items), {"a": measured(items, sure, "scope", "all")["step_exact"]}, [{"a": 1.0}], resamples=50
    )
    assert found.estimate.value == 1
    assert found.estimate.low is not None
    assert 0.8 < found.estimate.low < 1
