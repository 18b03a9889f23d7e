"""Does stated confidence match accuracy? Hand-worked bins, an exact decomposition, risk against coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trajaudit.analysis import score
from trajaudit.analysis.calibration import calibration, equal_mass, equal_width
from trajaudit.analysis.curves import risk_coverage
from trajaudit.analysis.table import under


def calibrated(items, answers, convention="published"):
    return {name: s.value for name, s in calibration(items, under(answers, convention)).items()}


def test_a_bin_holds_its_upper_edge_and_not_its_lower():
    values = np.array([0.0, 0.1, 0.5, 0.6, 0.60001, 0.7, 1.0])
    assert equal_width(values).tolist() == [0, 0, 4, 5, 6, 6, 9]


def test_equal_mass_bins_keep_equal_confidences_together():
    values = np.array([0.9] * 7 + [0.6, 0.7, 1.0])
    bins = equal_mass(values, np.ones(10, dtype=bool))
    assert len(set(bins[:7])) == 1
    assert bins[7] < bins[8] < bins[0] < bins[9]


def test_calibration_error_by_hand(labelled, answered):
    # (0.8, 0.9]: 2 of 4 right at 0.9, gap 0.4 of 4. (0.5, 0.6]: 1 of 1 right at 0.6, gap 0.4 of 1.
    items = labelled([True, True, False, False, True])
    answers = answered([True, True, True, True, True], confidence=[0.9] * 4 + [0.6])
    assert calibrated(items, answers)["ece"] == pytest.approx(0.4 * 4 / 5 + 0.4 * 1 / 5)


def test_gaps_of_opposite_sign_cancel_within_a_bin_and_not_between(labelled, answered):
    items = labelled([True, False])
    assert calibrated(items, answered([True, True], confidence=[0.5, 0.5]))["ece"] == pytest.approx(0)
    assert calibrated(items, answered([True, True], confidence=[0.9, 0.6]))["ece"] == pytest.approx(0.35)


def test_confidence_below_one_half_is_clamped_by_the_published_convention_only(labelled, answered):
    items, answers = labelled([True]), answered([True], confidence=0.2)
    assert calibrated(items, answers, "published")["ece"] == pytest.approx(0.5)
    assert calibrated(items, answers, "answered")["ece"] == pytest.approx(0.8)


def test_the_parts_of_the_brier_score_add_up_to_it(mixed):
    items, answers = mixed
    values = calibrated(items, replace(answers, score=np.random.default_rng(0).random(len(items.ids))))
    parts = values["brier_reliability"] - values["brier_resolution"] + values["brier_uncertainty"]
    assert parts == pytest.approx(values["brier"], abs=1e-12)


def test_with_one_score_a_bin_the_decomposition_is_murphys(mixed):
    items, answers = mixed
    coarse = np.clip(answers.score, 0.1, 1.0)
    values, base = calibrated(items, replace(answers, score=coarse)), items.faulty.mean()
    levels = [(at.mean(), level, items.faulty[at].mean()) for level in np.unique(coarse) for at in [coarse == level]]
    assert values["brier_reliability"] == pytest.approx(
        sum(share * (level - rate) ** 2 for share, level, rate in levels)
    )
    assert values["brier_resolution"] == pytest.approx(sum(share * (rate - base) ** 2 for share, _, rate in levels))
    assert values["brier_uncertainty"] == pytest.approx(base * (1 - base))


def test_risk_falls_with_coverage_by_hand(labelled, answered):
    # Right at 0.9 and 0.8 (tied pair, one wrong), wrong at 0.6: risk 0 at 1/4, 1/3 at 3/4, 2/4 at 1.
    items = labelled([True] * 4)
    answers = under(answered([True, True, False, False], confidence=[0.9, 0.8, 0.8, 0.6]), "published")
    wrong = answers.flagged != items.faulty
    points = risk_coverage(answers.confidence, wrong, answers.counted)
    assert points.tolist() == pytest.approx(np.array([[0.25, 0], [0.75, 1 / 3], [1, 0.5]]))
    assert calibration(items, answers)["aurc"].value == pytest.approx((0 + 2 * (1 / 3) + 0.5) / 4)


def test_the_order_of_tied_trajectories_cannot_move_an_area(mixed):
    items, answers = mixed
    order = np.random.default_rng(0).permutation(len(items.ids))
    shuffled_items = type(items)(
        **{k: v[order] if isinstance(v, np.ndarray) else tuple(v[i] for i in order) for k, v in vars(items).items()}
    )
    moved = {k: v[order] if isinstance(v, np.ndarray) else v for k, v in vars(answers).items()}
    moved["cost"] = {k: v[order] for k, v in answers.cost.items()}
    assert calibrated(shuffled_items, type(answers)(**moved)) == pytest.approx(calibrated(items, answers))


def test_the_reliability_curve_has_ten_bins_with_intervals_and_says_which_are_empty(labelled, answered):
    items = labelled([True] * 20)
    answers = answered([True] * 10 + [True] * 5 + [False] * 5, confidence=[0.95] * 10 + [0.75] * 10)
    bins = score(items, {"judge": answers}, resamples=200)[0].reliability
    assert [(b.low, b.high) for b in bins] == [(i / 10, (i + 1) / 10) for i in range(10)]
    assert [b.n for b in bins] == [0, 0, 0, 0, 0, 0, 0, 10, 0, 10]
    assert (bins[7].confidence, bins[7].accuracy.value) == (pytest.approx(0.75), 0.5)
    assert bins[7].accuracy.low < 0.5 < bins[7].accuracy.high
    assert (bins[0].confidence, bins[0].accuracy.value, bins[0].accuracy.reason) == (
        None,
        None,
        "no verdict in this bin",
    )


def test_an_auditor_without_probabilities_has_no_calibration(labelled, answered):
    statistics = calibration(labelled([True, False]), under(answered([True, False]), "published"))
    assert {s.value for s in statistics.values()} == {None}
    assert statistics["ece"].reason == "2 of 2 verdicts state neither confidence nor score"


def test_one_less_an_edge_falls_into_the_bin_below_the_edge():
    assert list(equal_width(np.array([0.3, 1 - 0.7, 0.31]))) == [2, 2, 3]
