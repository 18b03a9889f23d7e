"""Doubt as a predictor of error: an ROC area over an auditor's own verdicts, with the stated confidence beside it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from trajaudit.analysis.uncertainty import STATED, failure_prediction
from trajaudit.trajectory import Label, Source, Step, Trajectory
from trajaudit.verdict import Verdict

RNG = np.random.default_rng(5)
WRONG = RNG.random(80) < 0.4
DOUBT = np.round(RNG.random(80) + 0.8 * WRONG, 2)


def run(i: int, label: bool = True) -> Trajectory:
    return Trajectory(f"t{i}", f"g{i // 2}", "task", (Step(0),), None, Source("x"), Label(True) if label else None)


def verdicts(wrong=WRONG, doubt=DOUBT, **said) -> list[Verdict]:
    """Every run is faulty; a wrong verdict calls it clean."""
    return [
        Verdict(f"t{i}", "c", "judge", "s", faulty=not w, uncertainty={"token_entropy": float(d)}, **said)
        for i, (w, d) in enumerate(zip(wrong, doubt, strict=True))
    ]


def test_the_area_is_scikit_learns_and_its_interval_leaves_out_chance() -> None:
    (row,) = failure_prediction([run(i) for i in range(80)], verdicts(), resamples=2000)
    assert (row.sign, row.n, row.wrong) == ("token_entropy", 80, int(WRONG.sum()))
    assert row.auc.value == pytest.approx(roc_auc_score(WRONG, DOUBT))
    assert 0.5 < row.auc.low < row.auc.value < row.auc.high < 1
    assert row.p_value < 0.01


def test_doubt_that_knows_nothing_is_not_shown_to_foretell() -> None:
    shuffled = np.random.default_rng(1).permutation(DOUBT)
    (row,) = failure_prediction([run(i) for i in range(80)], verdicts(doubt=shuffled), resamples=2000)
    assert row.auc.low < 0.5 < row.auc.high
    assert row.p_value > 0.05


def test_the_stated_confidence_stands_beside_it_turned_round() -> None:
    said = [
        Verdict(f"t{i}", "c", "j", "s", faulty=i < 2, confidence=c, uncertainty={"x": 0.0})
        for i, c in enumerate((0.9, 0.8, 0.6, 0.7))
    ]
    rows = {row.sign: row for row in failure_prediction([run(i) for i in range(4)], said, resamples=200)}
    assert rows[STATED].auc.value == 1.0, "the two wrong ones are the two least sure"
    assert rows["x"].auc.value == 0.5, "all alike: ties count a half"
    assert rows["x"].p_value is None


def test_unlabelled_runs_and_failures_are_not_counted() -> None:
    runs = [run(0), run(1), run(2, label=False), run(3)]
    said = [*verdicts([True, False, True], [0.9, 0.1, 0.5]), Verdict("t3", "c", "judge", "s", "parse_fail")]
    row = failure_prediction(runs, said, resamples=200)[0]
    assert (row.n, row.wrong, row.auc.value) == (2, 1, 1.0)


def test_an_auditor_that_is_never_wrong_has_nothing_to_foretell() -> None:
    row = failure_prediction([run(i) for i in range(3)], verdicts([False] * 3, [0.1, 0.2, 0.3]), resamples=200)[0]
    assert row.auc.value is None
    assert row.auc.reason == "none of 3 verdicts are wrong: there is nothing to tell apart"
    assert (row.p_value, row.p_holm) == (None, None)


def test_auditors_without_signs_have_no_row() -> None:
    assert failure_prediction([run(0)], [Verdict("t0", "c", "rules", "s", faulty=True, confidence=0.9)]) == []


def test_a_handful_of_groups_is_too_few_for_a_p_value() -> None:
    runs = [run(i) for i in range(8)]
    row = failure_prediction(runs, verdicts([False, True] * 4, [0.1, 0.9] * 4), resamples=200)[0]
    assert (row.auc.value, row.p_value) == (1.0, None)
