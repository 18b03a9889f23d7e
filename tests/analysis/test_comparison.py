"""Comparisons of auditors: paired by default, corrected over their family, with the effect that could be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trajaudit.analysis import compare, delong, holm, mcnemar
from trajaudit.analysis.differences import inverted


@pytest.fixture
def pair(mixed, answered):
    """A judge and a slightly different one on the same 240 trajectories."""
    items, judge = mixed
    rng = np.random.default_rng(5)
    shifted = np.clip(judge.score + rng.normal(0, 0.15, len(judge.score)), 0, 1)
    other = replace(judge, auditor="other", score=shifted, flagged=shifted > 0.5)
    return items, {"judge": judge, "other": other}


def test_the_test_follows_from_the_metric(pair):
    items, answers = pair
    rows = {row.metric: row for row in compare(items, answers, ["recall", "precision", "roc_auc"], resamples=500)}
    assert {name: row.test for name, row in rows.items()} == {
        "recall": "exact McNemar by cluster",
        "precision": "paired bootstrap",
        "roc_auc": "DeLong by cluster",
    }
    cluster = np.array([int(group) for group in items.groups])
    hits = [own.flagged & items.faulty for own in answers.values()]
    assert rows["recall"].p_value == pytest.approx(mcnemar(*hits, cluster))
    by_item = compare(items, answers, ["recall", "roc_auc"], resamples=500, by_item=True)
    scores = [own.score for own in answers.values()]
    assert [row.test for row in by_item] == ["exact McNemar", "DeLong"]
    assert by_item[0].p_value == pytest.approx(mcnemar(*hits))
    assert by_item[1].p_value == pytest.approx(delong(*scores, items.faulty)[2])


def test_the_standard_error_of_delong_is_that_of_the_bootstrap(pair):
    items, answers = pair
    row = compare(items, answers, ["roc_auc"], resamples=4000)[0]
    cluster = np.array([int(group) for group in items.groups])
    error = delong(*(own.score for own in answers.values()), items.faulty, cluster)[1]
    assert (row.difference.high - row.difference.low) / (2 * 1.96) == pytest.approx(error, rel=0.1)


def test_the_difference_is_a_minus_b_and_its_interval_is_paired(pair):
    items, answers = pair
    row = compare(items, answers, ["f1"], [("judge", "other")], resamples=2000)[0]
    back = compare(items, answers, ["f1"], [("other", "judge")], resamples=2000)[0]
    assert row.difference.value == pytest.approx(-back.difference.value)
    assert (row.difference.low, row.difference.high) == pytest.approx((-back.difference.high, -back.difference.low))
    far = replace(answers["other"], flagged=np.random.default_rng(1).permutation(answers["other"].flagged))
    unrelated = compare(items, {**answers, "other": far}, ["f1"], [("judge", "other")], resamples=2000)[0]
    assert row.difference.high - row.difference.low < 0.7 * (unrelated.difference.high - unrelated.difference.low)


def test_holm_runs_over_the_whole_family_that_was_declared(pair):
    items, answers = pair
    metrics = ["f1", "recall", "false_alarm", "roc_auc", "type_macro_f1", "ece"]
    rows = compare(items, answers, metrics, family="main", resamples=500)
    assert {row.family for row in rows} == {"main"}
    assert [row.p_holm for row in rows] == pytest.approx(holm([row.p_value for row in rows]))
    alone = compare(items, answers, ["ece"], resamples=500)[0]
    assert alone.p_holm == alone.p_value
    assert rows[-1].mde > alone.mde > 0


def test_an_auditor_does_not_differ_from_itself(pair):
    items, answers = pair
    twins = {"a": answers["judge"], "b": answers["judge"]}
    recall, area, f1 = compare(items, twins, ["recall", "roc_auc", "f1"], resamples=200)
    assert (recall.difference.value, recall.p_value) == (0, 1)
    assert recall.difference.low < 0 < recall.difference.high
    assert (area.p_value, f1.p_value) == (None, None)
    assert "never differ" in f1.reason


def test_a_certain_difference_still_has_an_interval(labelled, answered):
    items = labelled([True] * 30)
    rows = compare(items, {"a": answered([True] * 30), "b": answered([False] * 30)}, ["recall"], resamples=200)
    assert rows[0].difference.method == "newcombe"
    assert rows[0].difference.low == pytest.approx(1 - (2 * 0.11351**2) ** 0.5, abs=1e-4)
    assert rows[0].difference.high == 1
    assert rows[0].p_value == pytest.approx(2 / 2**30)


def test_what_is_undefined_for_one_is_null_with_its_name(pair):
    items, answers = pair
    silent = replace(answers["other"], flagged=np.zeros(len(items.ids), dtype=bool))
    row, base = compare(items, {**answers, "other": silent}, ["precision", "base_rate"], resamples=100)
    assert (row.difference.value, row.p_value, row.mde) == (None, None, None)
    assert row.reason == "other: no trajectory was flagged"
    assert base.reason == "a property of the set, the same for every auditor"


def test_under_the_answered_convention_only_what_both_answered_is_compared(pair):
    items, answers = pair
    failed = np.arange(len(items.ids)) < 40
    other = answers["other"]
    partial = replace(other, status=np.where(failed, "parse_fail", other.status))
    row = compare(items, {**answers, "other": partial}, ["accuracy"], convention="answered", resamples=200)[0]
    assert row.difference.n == len(items.ids) - 40
    right = [(own.flagged == items.faulty)[40:].mean() for own in answers.values()]
    assert row.difference.value == pytest.approx(right[0] - right[1])


def test_bca_is_offered_for_differences(pair):
    items, answers = pair
    row = compare(items, answers, ["average_precision"], resamples=1000, method="bca")[0]
    assert row.difference.method == "bca"
    assert row.difference.low < row.difference.value < row.difference.high


def test_the_inverted_interval_never_claims_more_than_its_resamples_can_show():
    assert inverted(np.ones(999)) == 2 / 1000
    assert inverted(np.r_[-np.ones(24), np.ones(975)]) == 2 * 25 / 1000
    assert inverted(np.zeros(999)) == 1


def test_unknown_names_are_refused_with_the_nearest(pair):
    items, answers = pair
    with pytest.raises(ValueError, match=r"unknown metric 'recal'.*'recall'"):
        compare(items, answers, ["recal"])
    with pytest.raises(ValueError, match=r"no verdicts of 'judg'.*'judge'"):
        compare(items, answers, ["recall"], [("judg", "other")])
