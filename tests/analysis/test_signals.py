"""Flags against a label: every measure by hand or by a reference, and clusters counted once."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, kendalltau
from sklearn.metrics import matthews_corrcoef, roc_auc_score

from trajaudit.analysis.incremental import incremental
from trajaudit.analysis.paired import delong
from trajaudit.analysis.signals import (
    FlaggedRuns,
    both_absent,
    compare_areas,
    lost,
    measure,
    rank_agreement,
    told_alone,
    unmarked,
)


def by_hand() -> FlaggedRuns:
    """Ten runs: with the flag 1 of 4 is faulty, without it 4 of 6."""
    present = np.array([True] * 4 + [False] * 6)
    faulty = np.array([True, False, False, False] + [True] * 4 + [False] * 2)
    return FlaggedRuns(("flag",), present[:, None], faulty, tuple("abcdefghij"))


@pytest.fixture(scope="module")
def runs() -> FlaggedRuns:
    """Three flags of falling worth over 40 groups of 10 that differ in difficulty."""
    rng = np.random.default_rng(0)
    hard = np.repeat(rng.normal(0, 1, 40), 10)
    faulty = rng.random(400) < 1 / (1 + np.exp(-hard))
    present = np.column_stack([rng.random(400) < np.where(faulty, own, 0.8) for own in (0.2, 0.45, 0.7)])
    return FlaggedRuns(("good", "fair", "poor"), present, faulty, tuple(f"g{i // 10}" for i in range(400)))


def test_the_measures_of_a_flag_by_hand() -> None:
    found = measure(by_hand(), resamples=200)["flag"]
    assert {name: estimate.value for name, estimate in found.items()} == pytest.approx(
        {
            "rate_present": 1 / 4,
            "rate_absent": 4 / 6,
            "difference": 4 / 6 - 1 / 4,
            "phi": (10 * 1 - 4 * 5) / np.sqrt(4 * 6 * 5 * 5),
            "auc": (4 / 5 + 3 / 5) / 2,
        }
    )


def test_phi_and_area_are_scikit_learns(runs: FlaggedRuns) -> None:
    for name, column in zip(runs.flags, runs.present.T, strict=True):
        found = measure(runs, resamples=100)[name]
        assert found["phi"].value == pytest.approx(matthews_corrcoef(runs.faulty, column))
        assert found["auc"].value == pytest.approx(roc_auc_score(runs.faulty, ~column))


def test_a_flag_that_never_varies_has_no_correlation_and_says_why(runs: FlaggedRuns) -> None:
    always = FlaggedRuns(("always",), np.ones((400, 1), bool), runs.faulty, runs.groups)
    found = measure(always, resamples=100)["always"]
    for name in ("rate_absent", "difference", "phi"):
        assert found[name].value is None
        assert found[name].reason
    assert found["auc"].value == 0.5


def test_copies_of_runs_within_their_group_add_no_certainty(runs: FlaggedRuns) -> None:
    copied = FlaggedRuns(
        runs.flags, np.repeat(runs.present, 3, 0), np.repeat(runs.faulty, 3), tuple(np.repeat(runs.groups, 3))
    )
    once, often = measure(runs, resamples=2000)["good"]["auc"], measure(copied, resamples=2000)["good"]["auc"]
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_both_absent_is_the_rate_among_runs_that_lack_both() -> None:
    present = np.array([[False, False], [False, False], [False, False], [True, False], [False, True]])
    faulty = np.array([True, True, False, False, False])
    (found,) = both_absent(FlaggedRuns(("a", "b"), present, faulty, tuple("vwxyz")), resamples=200).values()
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)


def test_what_a_flag_tells_alone_is_lacking_it_and_no_other() -> None:
    present = np.array([[False, True], [False, False], [True, False], [True, True], [False, True]])
    faulty = np.array([True, True, True, True, False])
    found = told_alone(FlaggedRuns(("a", "b"), present, faulty, tuple("vwxyz")), resamples=200)
    assert {name: estimate.value for name, estimate in found.items()} == {"a": 1 / 4, "b": 1 / 4}


def test_what_is_lost_and_what_no_flag_tells_are_shares_of_the_runs_asked_about() -> None:
    present = np.array([[False, True], [True, True], [True, True], [True, False]])
    some = np.array([True, True, True, False])
    runs = FlaggedRuns(("a", "b"), present, np.array([True, True, False, True]), tuple("wxyz"))
    assert unmarked(runs, some, resamples=200).value == pytest.approx(2 / 3)
    assert {name: one.value for name, one in lost(runs, some, resamples=200).items()} == pytest.approx(
        {"a": 1 / 3, "b": 0}
    )


def test_two_flags_are_compared_on_the_same_runs_by_group(runs: FlaggedRuns) -> None:
    rows = compare_areas(runs, "family", resamples=500)
    assert [(row.a, row.b) for row in rows] == [("good", "fair"), ("good", "poor"), ("fair", "poor")]
    _, number = np.unique(runs.groups, return_inverse=True)
    absent = (~runs.present).astype(float)
    expected = delong(absent[:, 0], absent[:, 1], runs.faulty, number)[2]
    assert rows[0].p_value == pytest.approx(expected)
    assert all(row.p_holm >= row.p_value for row in rows)
    assert rows[1].difference.low < rows[1].difference.value < rows[1].difference.high


def test_two_flags_that_never_differ_are_not_tested(runs: FlaggedRuns) -> None:
    twice = FlaggedRuns(("a", "b"), runs.present[:, [0, 0]], runs.faulty, runs.groups)
    (row,) = compare_areas(twice, "family", resamples=100)
    assert (row.p_value, row.reason) == (None, "no test: the two flags never differ")


def test_an_order_is_compared_by_kendalls_tau(runs: FlaggedRuns) -> None:
    areas = [roc_auc_score(runs.faulty, ~column) for column in runs.present.T]
    theirs = [0.5, 0.9, 0.7]
    found = rank_agreement(runs, theirs, resamples=300)
    assert found.tau.value == pytest.approx(kendalltau(areas, theirs)[0])
    same = rank_agreement(runs, [0.9, 0.7, 0.5], resamples=300)
    assert same.tau.value == pytest.approx(1)
    assert same.same_order > 0.9
    assert found.same_order < 0.1


def test_a_flag_is_measured_beside_the_others_as_by_nested_models(runs: FlaggedRuns) -> None:
    rows = incremental(runs)
    _, number = np.unique(runs.groups, return_inverse=True)

    def model(columns: list[int]):
        design = sm.add_constant(runs.present[:, columns].astype(float))
        return sm.GLM(runs.faulty.astype(float), design, family=sm.families.Binomial())

    whole = model([0, 1, 2])
    for i, row in enumerate(rows):
        without = model([j for j in range(3) if j != i]).fit()
        ratio = without.deviance - whole.fit().deviance
        assert (row.ratio, row.p_ratio) == pytest.approx((ratio, chi2.sf(ratio, 1)), rel=1e-4)
        robust = whole.fit(cov_type="cluster", cov_kwds={"groups": number})
        assert row.log_odds.value == pytest.approx(robust.params[i + 1], rel=1e-4)
        width = row.log_odds.high - row.log_odds.low
        assert width == pytest.approx(2 * 2.0227 * robust.bse[i + 1], rel=0.01)  # t of 39 degrees of freedom
    assert rows[0].auc_gain > rows[2].auc_gain


def test_runs_copied_within_their_group_move_the_likelihood_ratio_and_not_the_robust_test(runs: FlaggedRuns) -> None:
    copied = FlaggedRuns(
        runs.flags, np.repeat(runs.present, 4, 0), np.repeat(runs.faulty, 4), tuple(np.repeat(runs.groups, 4))
    )
    for once, often in zip(incremental(runs), incremental(copied), strict=True):
        assert often.ratio == pytest.approx(4 * once.ratio, rel=1e-4)
        assert often.p_wald == pytest.approx(once.p_wald, rel=0.1)  # the correction counts runs, a little


def test_flags_that_separate_the_classes_have_no_finite_estimate(runs: FlaggedRuns) -> None:
    present = np.column_stack([~runs.faulty, runs.present[:, 1]])
    rows = incremental(FlaggedRuns(("perfect", "fair"), present, runs.faulty, runs.groups))
    assert [row.log_odds.value for row in rows] == [None, None]
    assert "separate the classes" in rows[0].log_odds.reason


def test_a_flag_that_never_varies_adds_nothing_and_the_others_are_still_measured(runs: FlaggedRuns) -> None:
    present = np.column_stack([np.ones(400, bool), runs.present[:, :2]])
    constant, *rest = incremental(FlaggedRuns(("always", "good", "fair"), present, runs.faulty, runs.groups))
    assert constant.log_odds.reason == "the flag never varies"
    assert all(row.p_holm is not None for row in rest)


def test_columns_of_another_length_are_refused(runs: FlaggedRuns) -> None:
    with pytest.raises(ValueError, match="expected .n, 3. flags and n labels"):
        FlaggedRuns(runs.flags, runs.present[:10], runs.faulty, runs.groups)


def test_an_order_with_ties_has_the_tau_of_its_interval(runs: FlaggedRuns) -> None:
    """Two flags alike tie in every resample; tau-b leaves the tie out, in the estimate as in the interval."""
    twice = FlaggedRuns(("a", "b", "poor"), runs.present[:, [0, 0, 2]], runs.faulty, runs.groups)
    found = rank_agreement(twice, [0.9, 0.9, 0.5], resamples=300)
    assert (found.tau.value, found.tau.low, found.tau.high) == pytest.approx((1, 1, 1))
    assert found.same_order == 1
    strict = rank_agreement(twice, [0.9, 0.8, 0.5], resamples=300)
    assert (strict.tau.value, strict.tau.low, strict.tau.high) == pytest.approx([2 / np.sqrt(6)] * 3)
    assert strict.same_order == 0, "theirs does not tie"


def test_flags_that_are_all_alike_have_no_order(runs: FlaggedRuns) -> None:
    alike = FlaggedRuns(("a", "b"), runs.present[:, [0, 0]], runs.faulty, runs.groups)
    found = rank_agreement(alike, [0.9, 0.5], resamples=100)
    assert (found.tau.value, found.p_value, found.same_order) == (None, None, None)
    assert found.tau.reason


def few() -> FlaggedRuns:
    """Sixty runs of which one is faulty: every third resample has no faulty run at all."""
    rng = np.random.default_rng(0)
    return FlaggedRuns(("a", "b"), rng.random((60, 2)) < 0.5, np.arange(60) < 1, tuple(map(str, range(60))))


def test_what_is_undefined_in_many_resamples_has_no_interval() -> None:
    (row,) = compare_areas(few(), "family", resamples=500)
    order = rank_agreement(few(), [0.9, 0.5], resamples=500)
    for estimate in (row.difference, order.tau):
        assert estimate.value is not None
        assert (estimate.low, estimate.high) == (None, None)
        assert "too many resamples" in (estimate.reason or "")


def test_runs_of_one_group_show_no_difference_between_groups(runs: FlaggedRuns) -> None:
    one = FlaggedRuns(runs.flags, runs.present, runs.faulty, ("g",) * 400)
    for row in compare_areas(one, "family", resamples=100):
        assert (row.p_value, row.mde, row.reason) == (None, None, "no test: all runs are of one group")
        assert row.difference.high - row.difference.low > 0.5, "one group shows next to nothing"


@pytest.mark.parametrize("groups", [1, 3, 4])
def test_a_model_needs_more_groups_than_coefficients(runs: FlaggedRuns, groups: int) -> None:
    rows = incremental(FlaggedRuns(runs.flags, runs.present, runs.faulty, tuple(str(i % groups) for i in range(400))))
    assert {row.log_odds.reason for row in rows} == {f"the 4 coefficients of the model need more than {groups} groups"}
    assert {(row.log_odds.value, row.p_wald, row.ratio) for row in rows} == {(None, None, None)}


def test_a_flag_that_follows_from_the_others_has_no_coefficient_of_its_own(runs: FlaggedRuns) -> None:
    twice = FlaggedRuns(("a", "b"), runs.present[:, [0, 0]], runs.faulty, runs.groups)
    assert [row.log_odds.reason for row in incremental(twice)] == ["a flag follows from the others"] * 2


def test_no_runs_at_all_have_reasons_and_no_figures() -> None:
    none = FlaggedRuns(("a", "b"), np.zeros((0, 2), bool), np.zeros(0, bool), ())
    found = [*measure(none)["a"].values(), *both_absent(none).values(), *told_alone(none).values()]
    found += [row.difference for row in compare_areas(none, "family")]
    found += [row.log_odds for row in incremental(none)] + [rank_agreement(none, [0.9, 0.5]).tau]
    assert all(estimate.value is None and estimate.reason for estimate in found)
