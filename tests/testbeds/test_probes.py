"""Leak probes find what is planted, miss what is not there, and say what each preset gives away."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from trajaudit.testbeds.probes import PROBES, auc_within_folds, probe
from trajaudit.testbeds.support_desk import generate
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory


def plain(i: int, faulty: bool, group: str | None = None, **views: str) -> Trajectory:
    steps = (Step(0, views.get("thought", "think"), Action("t", {}), {}), Step(1, None, Action("t", {}), {}))
    label = Label(faulty, (Fault("wrong_tool", 1),) if faulty else ())
    return Trajectory(
        views.get("id", f"{i:x}"), group or f"g{i}", views.get("task", "goal"), steps, "", Source("x"), label
    )


def one(runs, name):
    return probe(runs, (name,))[0]


def test_with_one_fold_the_auc_is_that_of_scikit_learn_ties_and_weights_included():
    random_state = np.random.default_rng(0)
    scores, target = random_state.integers(0, 8, 300).astype(float), random_state.integers(0, 2, 300)
    weights = np.vstack([np.ones(300), random_state.integers(0, 4, 300)]).astype(float)
    ours = auc_within_folds(scores, target, np.zeros(300, dtype=int), weights)
    assert ours[0] == pytest.approx(roc_auc_score(target, scores))
    assert ours[1] == pytest.approx(roc_auc_score(target, scores, sample_weight=weights[1]))


def test_pairs_of_different_folds_are_not_compared():
    scores, target = np.array([1.0, 2.0, 11.0, 12.0]), np.array([0, 1, 0, 1])
    assert auc_within_folds(scores, target, np.array([0, 0, 1, 1]), np.ones((1, 4))) == pytest.approx([1.0])
    scores = np.array([11.0, 12.0, 1.0, 2.0])  # by hand: 2 of 2 pairs right within folds, 3 of 4 without them
    assert auc_within_folds(scores, target, np.array([0, 0, 1, 1]), np.ones((1, 4))) == pytest.approx([1.0])
    assert auc_within_folds(scores, target, np.zeros(4, dtype=int), np.ones((1, 4))) == pytest.approx([0.75])


@pytest.mark.parametrize(
    ("name", "views"),
    [
        ("ids", lambda i, faulty: {"id": f"run-{i}-{'wrong_tool' if faulty else 'clean'}"}),
        ("goal", lambda i, faulty: {"task": "please check twice" if faulty and i % 3 else "please check"}),
        (
            "thoughts",
            lambda i, faulty: {"thought": "pull that again" if faulty and i % 3 else "read it"},
        ),
    ],
)
def test_a_planted_leak_is_found(name: str, views):
    runs = [plain(i, i % 2 == 0, **views(i, i % 2 == 0)) for i in range(200)]
    result = one(runs, name)
    assert result.leaks
    assert result.low > 0.6
    assert not one(runs, "goal" if name != "goal" else "ids").leaks


def test_length_and_position_leak_where_faulty_runs_are_longer_and_break_at_the_end():
    runs = []
    for i in range(200):
        run = plain(i, i % 2 == 0)
        runs.append(replace(run, steps=(*run.steps, Step(2, "more", Action("t", {}), {}))) if i % 2 == 0 else run)
    assert one(runs, "length").auc == pytest.approx(1.0)
    position = one(runs, "position")
    assert position.auc == pytest.approx(1.0)  # always the second of three steps
    assert position.n == pytest.approx(240, abs=6)  # the steps of four folds out of five of the hundred faulty runs


def test_the_size_of_a_group_is_not_mistaken_for_the_wording_of_its_goal():
    rng = random.Random(3)
    runs = []
    for g in range(240):
        words = " ".join(rng.choice("abcdefgh") * 3 + str(rng.randrange(10**6)) for _ in range(6))
        size = 1 if g % 2 else 6
        runs += [plain(10 * g + j, size > 1 and j > 0, f"g{g}", task=words) for j in range(size)]
    assert not one(runs, "goal").leaks


def test_an_interval_over_groups_is_wider_than_one_that_takes_copies_for_news():
    rng = random.Random(1)
    base = [
        plain(i, i % 2 == 0, task=f"{rng.choice(['red', 'blue'])} {rng.choice(['cat', 'dog'])}") for i in range(120)
    ]
    copies = [replace(run, id=f"{run.id}-{j}") for run in base for j in range(8)]
    grouped = one(copies, "goal")
    loose = one([replace(run, group=run.id) for run in copies], "goal")
    assert grouped.high - grouped.low > 1.5 * (loose.high - loose.low)


@pytest.mark.parametrize(
    ("runs", "name", "reason"),
    [
        ([], "goal", "no labelled items"),
        ([replace(plain(i, True), label=None) for i in range(9)], "goal", "no labelled items"),
        ([plain(i, True) for i in range(30)], "goal", "all items are of one class"),
        ([plain(i, i < 3) for i in range(30)], "goal", "a class occurs in 3 groups, fewer than 5 folds"),
        ([plain(i, i % 2 == 0, thought="") for i in range(30)], "thoughts", "the view is empty in every run"),
        ([plain(i, False) for i in range(30)], "position", "no labelled items"),
    ],
)
def test_an_auc_that_cannot_be_had_is_null_with_its_reason(runs, name: str, reason: str):
    result = one(runs, name)
    assert (result.auc, result.low, result.high, result.leaks, result.reason) == (None, None, None, False, reason)


def test_an_unknown_probe_is_refused_by_name():
    with pytest.raises(ValueError, match=r"names: expected some of ids, goal, .*, got 'lenght'"):
        probe([], ("lenght",))


@pytest.mark.parametrize(("seed", "wording"), [(0, "a"), (1, "b"), (2, "a")])
def test_ids_goals_and_thoughts_of_the_varied_preset_are_at_chance(seed: int, wording: str):
    for result in probe(list(generate("varied", 800, seed, wording)), ("ids", "goal", "thoughts")):
        assert not result.leaks, result
        assert result.low <= 0.5 <= result.high


def test_chance_is_no_luck_of_the_pairing_with_clean_twins():
    rng, missed = random.Random(0), []
    for seed in range(5):
        groups: dict[str, list[Trajectory]] = {}
        for run in generate("varied", 800, seed, "ab"[seed % 2]):
            groups.setdefault(run.group, []).append(run)
        alone = [rng.choice(runs) for runs in groups.values()]
        missed += [result for result in probe(alone, ("goal", "thoughts")) if result.leaks]
    assert len(missed) <= 2  # of 10; more than 2 by chance: one time in eighty


def test_intervals_of_ids_miss_chance_no_more_often_than_they_may():
    missed = [seed for seed in range(12) if one(list(generate("varied", 240, seed)), "ids").leaks]
    assert len(missed) <= 3  # of 12 at 5 %; more than 3 by chance: one time in four hundred


@pytest.mark.parametrize("wording", ["a", "b"])
def test_a_fabricated_sentence_is_not_found_by_its_wording(wording: str):
    runs = [run for seed in (0, 1) for run in generate("varied", 1600, seed, wording)]
    lied = {run.group for run in runs if run.label.faulty and run.label.first.type == "unsupported_claim"}
    pairs = [r for r in runs if r.group in lied and (not r.label.faulty or r.label.first.type == "unsupported_claim")]
    assert len(pairs) == 800
    assert not one(pairs, "final_answer").leaks


def test_what_the_paper_preset_gives_away_is_said():
    results = {result.name: result for result in probe(list(generate("paper", 800)))}
    assert set(results) == set(PROBES)
    assert not results["ids"].leaks
    assert results["thoughts"].low > 0.8
    assert results["length"].low > 0.9
    assert results["position"].leaks
    for result in results.values():
        print(f"{result.name:13} AUC {result.auc:.3f} [{result.low:.3f}, {result.high:.3f}] {result.reason}")


def test_probing_two_thousand_runs_takes_seconds():
    runs = list(generate("varied", 2000, 4))
    started = time.process_time()
    results = probe(runs)
    assert time.process_time() - started < 20
    assert all(result.auc is not None for result in results)
    assert all(re.search("holds 0.5|lies off 0.5", result.reason) for result in results)
