"""The scorecard: denominators, bounds, and JSON without numbers that JSON does not have."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from trajaudit._fields import dumps, loads
from trajaudit.analysis import METRICS, score, scorecards
from trajaudit.verdict import Verdict


def said(name, faulty=None, status="ok", auditor="judge", **more) -> Verdict:
    return Verdict(name, "hash", auditor, "spec", status=status, faulty=faulty, **more)


def test_the_denominator_is_what_was_asked_and_not_what_was_answered(run):
    runs = [run(f"t{i}", ("wrong_tool", 1)) for i in range(10)]
    card = scorecards(runs, [said(f"t{i}", True) for i in range(6)], resamples=50)[0]
    assert (card.denominator.attempted, card.denominator.answered) == (10, 6)
    assert (card.metrics["recall"].value, card.metrics["recall"].n) == (0.6, 10)


def test_failing_on_what_is_hard_does_not_raise_the_score_unseen(run):
    runs = [run(f"t{i}", ("wrong_tool", 1)) if i % 2 else run(f"t{i}") for i in range(10)]
    verdicts = [said(f"t{i}", bool(i % 2)) if i < 5 else said(f"t{i}", status="api_error") for i in range(10)]
    published = scorecards(runs, verdicts, resamples=50)[0]
    answered = scorecards(runs, verdicts, resamples=50, convention="answered")[0]
    assert answered.metrics["accuracy"].value == 1
    assert answered.metrics["accuracy"].n == 5
    assert answered.bounds["accuracy"] == (0.5, 1.0)
    assert answered.denominator.failed == {"api_error": 5}
    assert published.metrics["accuracy"].value == 0.7
    assert published.bounds == {}


def test_bounds_by_hand(run):
    # Two faults caught of three, one alarm on two clean; a fault and a clean run failed.
    runs = [run(f"f{i}", ("wrong_tool", 1)) for i in range(4)] + [run(f"c{i}") for i in range(3)]
    right = {"step": 1, "types": ("wrong_tool",)}
    verdicts = [
        said("f0", True, score=0.9, **right),
        said("f1", True, score=0.8, **right),
        said("f2", False, score=0.4),
    ]
    verdicts += [said("c0", True, score=0.6), said("c1", False, score=0.1)]
    verdicts += [said("f3", status="parse_fail"), said("c2", status="refused")]
    bounds = scorecards(runs, verdicts, resamples=50, convention="answered")[0].bounds
    assert bounds["recall"] == (2 / 4, 3 / 4)
    assert bounds["false_alarm"] == (1 / 3, 2 / 3)
    assert bounds["precision"] == (2 / 4, 3 / 4)
    assert bounds["step_exact"] == (2 / 3, 1.0)
    assert bounds["step_joint"] == (2 / 4, 3 / 4)
    # Best: the failed ones at 1 and 0; of 12 pairs only (f2, c0) is lost. Worst: at 0 and 1.
    assert bounds["roc_auc"] == (pytest.approx((2 + 2 + 1 + 0) / 12), pytest.approx(11 / 12))


def test_no_answers_in_place_of_failures_can_leave_the_bounds(mixed):
    items, answers = mixed
    rng = np.random.default_rng(0)
    failed = rng.random(len(items.ids)) < 0.1
    raw = type(answers)(**{**vars(answers), "status": np.where(failed, "parse_fail", "ok")})
    bounds = score(items, {"judge": raw}, resamples=50, convention="answered")[0].bounds
    for _ in range(20):
        invented = {
            "flagged": np.where(failed, rng.random(len(failed)) < rng.random(), answers.flagged),
            "score": np.where(failed, rng.random(len(failed)), answers.score),
            "step": np.where(failed, rng.integers(-1, 6, len(failed)), answers.step),
            "type": np.where(failed, rng.permutation(answers.type), answers.type),
        }
        card = score(items, {"judge": type(answers)(**{**vars(answers), **invented})}, resamples=2)[0]
        for name, (low, high) in bounds.items():
            assert low - 1e-12 <= card.metrics[name].value <= high + 1e-12, name


def test_where_nothing_failed_both_conventions_agree_and_there_are_no_bounds(mixed):
    items, answers = mixed
    published, honest = (
        score(items, {"judge": answers}, resamples=50, convention=convention)[0]
        for convention in ("published", "answered")
    )
    assert honest.bounds == {}
    for name in ("f1", "roc_auc", "step_exact", "type_macro_f1", "brier"):
        assert honest.metrics[name] == published.metrics[name]


def test_an_auditor_that_answered_nothing_is_null_everywhere_it_is_honest(run):
    runs = [run("a", ("wrong_tool", 1)), run("b")]
    verdicts = [said(name, status="api_error") for name in "ab"]
    card = scorecards(runs, verdicts, resamples=50, convention="answered")[0]
    measured = {name for name, estimate in card.metrics.items() if estimate.value is not None}
    assert {METRICS[name].group for name in measured} == {"cost"}
    assert all(estimate.reason for name, estimate in card.metrics.items() if name not in measured)
    assert scorecards(runs, verdicts, resamples=50)[0].metrics["ece"].value == pytest.approx(0.0)


def test_every_scorecard_is_strict_json(run, mixed):
    one_class = scorecards([run("a", ("wrong_tool", 1))], [said("a", True, score=1.0)], resamples=50)[0]
    items, answers = mixed
    for card in (one_class, score(items, {"judge": answers}, resamples=50)[0]):
        text = dumps(asdict(card))
        assert loads(text, "card")["metrics"]["f1"]["value"] == card.metrics["f1"].value
    assert one_class.metrics["roc_auc"].value is None


def test_auditors_share_their_resamples_so_that_adding_one_changes_no_other(mixed, answered):
    items, answers = mixed
    alone = score(items, {"judge": answers}, resamples=200)[0]
    silent = answered([False] * len(items.ids), auditor="never")
    together = score(items, {"never": silent, "judge": answers}, resamples=200)[1]
    for name in ("f1", "roc_auc", "ece", "type_macro_f1"):
        ours, theirs = (card.metrics[name] for card in (together, alone))
        assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
