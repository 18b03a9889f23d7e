"""Calibration: what a probability and a threshold may be fitted on, and what they then promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from trajaudit.detectors.calibration import Calibrated, Calibration, calibrate, promised
from trajaudit.verdict import Verdict


def drawn(n: int, slope: float, shift: float) -> tuple[list[float], list[bool]]:
    """Scores whose logit is the true one times ``slope``, plus ``shift``."""
    random = np.random.default_rng(0)
    true = random.normal(0, 2, n)
    return expit(slope * true + shift).tolist(), (random.random(n) < expit(true)).tolist()


def test_temperature_finds_how_overconfident_a_score_is() -> None:
    scores, faulty = drawn(4000, 3.0, 0.0)
    fitted = calibrate(scores, faulty, Calibration("temperature"))
    assert fitted.slope == pytest.approx(1 / 3, rel=0.1)
    assert fitted.intercept == 0


def test_platt_mends_a_wrong_base_rate_and_temperature_cannot() -> None:
    scores, faulty = drawn(4000, 1.0, 2.0)
    mean = np.mean(faulty)
    platt, temperature = (calibrate(scores, faulty, Calibration(how)) for how in ("platt", "temperature"))
    assert np.mean([platt.probability(score) for score in scores]) == pytest.approx(mean, abs=0.01)
    assert np.mean([temperature.probability(score) for score in scores]) > mean + 0.1


def test_isotonic_is_scikit_learns() -> None:
    from sklearn.isotonic import IsotonicRegression

    scores, faulty = drawn(300, 2.0, 1.0)
    fitted = calibrate(scores, faulty, Calibration("isotonic"))
    reference = IsotonicRegression(y_min=1e-6, y_max=1 - 1e-6, out_of_bounds="clip").fit(logit(scores), faulty)
    new = [0.01, 0.3, 0.77, 0.999]
    assert [fitted.probability(s) for s in new] == pytest.approx(reference.predict(logit(new)).tolist())


@pytest.mark.parametrize(("budget", "threshold"), [(0.1, 0.5), (0.25, 0.45), (0.5, 0.3)])
def test_the_threshold_is_the_conformal_quantile_of_the_clean_runs(budget: float, threshold: float) -> None:
    """Ten clean runs at 0.05, 0.10 … 0.50: the 10th, 9th and 6th smallest, since (10 + 1) * 0.9 = 9.9, 8.25 and 5.5."""
    clean = [i / 20 for i in range(1, 11)]
    fitted = calibrate([*clean, 0.99], [False] * 10 + [True], Calibration("none", false_alarms=budget))
    assert fitted.threshold == threshold


def test_a_new_clean_run_passes_the_threshold_with_at_most_the_budgets_probability() -> None:
    """Of n + 1 exchangeable scores each is the new one equally often: counted, not simulated."""
    for n, budget in ((9, 0.1), (10, 0.1), (19, 0.05), (30, 0.05), (30, 0.2)):
        scores = [i / 100 for i in range(n + 1)]
        passed = 0
        for new in scores:
            threshold, _ = promised([score for score in scores if score != new], budget)
            passed += threshold is not None and new > threshold
        assert budget - 1 / (n + 1) < passed / (n + 1) <= budget


@pytest.mark.parametrize(("budget", "needed"), [(0.05, 19), (0.1, 9), (0.01, 99), (0.3, 3)])
def test_too_few_clean_runs_promise_nothing_and_say_how_many_would(budget: float, needed: int) -> None:
    threshold, reason = promised([0.1] * (needed - 1), budget)
    assert threshold is None
    assert reason is not None
    assert f"{needed} could" in reason
    assert promised([0.1] * needed, budget) == (0.1, None)
    raw = Verdict("t", "c", "d", "s", faulty=True, score=0.999)
    assert Calibrated(threshold=None, reason=reason).verdict(raw).faulty is False


def test_no_number_of_runs_promises_no_false_alarms_at_all() -> None:
    with pytest.raises(ValueError, match="false_alarms: expected a share above 0 and below 1, or null, got 0"):
        Calibration(false_alarms=0.0)


def test_ties_at_the_threshold_never_break_the_budget() -> None:
    fitted = calibrate([0.4] * 10 + [0.9], [False] * 10 + [True], Calibration("none", false_alarms=0.2))
    assert sum(score > (fitted.threshold or 0) for score in [0.4] * 10) == 0


def test_a_decision_changes_what_is_named_and_a_failure_stays_a_failure() -> None:
    raw = Verdict(
        "t", "c", "d", "s", faulty=True, score=0.6, step=2, types=("wrong_tool",), step_scores=(0.1, 0.2, 0.6)
    )
    clean = Calibrated(threshold=0.7).verdict(raw)
    assert (clean.faulty, clean.step, clean.types, clean.confidence) == (False, None, (), 0.4)
    assert Calibrated(threshold=0.5).verdict(raw).step == 2
    failed = Verdict("t", "c", "d", "s", status="overflow")
    assert Calibrated(threshold=0.5).verdict(failed) is failed


def test_one_class_cannot_be_calibrated_on() -> None:
    with pytest.raises(ValueError, match="one class only"):
        calibrate([0.1, 0.2], [False, False], Calibration())


def test_separable_scores_still_give_finite_probabilities() -> None:
    fitted = calibrate([0.1, 0.2, 0.8, 0.9], [False, False, True, True], Calibration("platt"))
    assert 0 < fitted.probability(0.01) < fitted.probability(0.99) < 1
