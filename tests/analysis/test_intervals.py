"""Intervals against SciPy and statsmodels, and at the edges where a bootstrap has nothing to say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from trajaudit.analysis import score, wilson
from trajaudit.analysis.intervals import bca, estimate, estimates, percentile
from trajaudit.analysis.resampling import Design, design, influence, replicates
from trajaudit.analysis.statistic import mean, rate


@pytest.mark.parametrize(("k", "n"), [(0, 25), (25, 25), (1, 10), (134, 175), (300, 400)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_is_that_of_statsmodels(k, n, level):
    assert wilson(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-12)


def test_a_rate_of_zero_has_an_interval_of_some_width(labelled, answered):
    card = score(labelled([False] * 25), {"judge": answered([False] * 25)}, resamples=100)[0]
    alarm = card.metrics["false_alarm"]
    assert (alarm.value, alarm.low, round(alarm.high, 3), alarm.method) == (0, 0, 0.133, "wilson")


def test_at_the_edge_repeats_of_one_instance_add_no_certainty(labelled, answered):
    card = score(labelled([False] * 25, np.arange(25) // 5), {"judge": answered([False] * 25)}, resamples=100)[0]
    assert card.metrics["false_alarm"].high == pytest.approx(wilson(0, 5)[1])


def test_a_rate_at_the_edge_in_every_stratum_has_an_interval_of_some_width(labelled, answered):
    types = ["wrong_tool"] * 50 + ["premature_stop"] * 50
    recall = score(labelled([True] * 100, None, types), {"judge": answered([True] * 50 + [False] * 50)})[0].metrics[
        "recall"
    ]
    assert (recall.value, recall.method) == (0.5, "wilson")
    assert (recall.low, recall.high) == pytest.approx(wilson(50, 100))


def test_a_handful_of_misses_gets_a_wilson_interval_and_a_fair_number_the_bootstrap():
    plan, everyone = Design(np.arange(100), np.array([100])), np.ones(100, dtype=bool)
    few, some = estimates(plan, [rate(np.arange(100) >= k, everyone, "") for k in (4, 5)], 500)
    assert (few.method, some.method) == ("wilson", "percentile")
    assert (few.low, few.high) == pytest.approx(wilson(96, 100))


def test_identical_steps_of_a_run_are_one_observation(labelled, answered):
    # 30 runs of 20 identical steps: taken as 600 observations the interval is 0.08 wide, as 30 it is over 0.3.
    flagged = np.repeat(np.arange(30) % 2 == 0, 20)
    widths = {}
    for name, groups in (("steps", None), ("runs", np.repeat(np.arange(30), 20))):
        recall = score(labelled([True] * 600, groups), {"judge": answered(flagged)}, resamples=2000)[0].metrics[
            "recall"
        ]
        widths[name] = recall.high - recall.low
    assert widths["steps"] == pytest.approx(2 * 1.96 * 0.5 / 600**0.5, rel=0.05)
    assert widths["runs"] == pytest.approx(2 * 1.96 * 0.5 / 29**0.5, rel=0.08)


def test_bca_is_that_of_scipy_on_the_same_replicates():
    values = np.random.default_rng(1).exponential(size=40)
    plan, everyone = Design(np.arange(40), np.array([40])), np.ones(40, dtype=bool)
    statistic = mean(values, everyone, "")
    drawn = replicates(plan, [statistic], 4000, 0)[0]
    same = SimpleNamespace(bootstrap_distribution=drawn)
    expected = stats.bootstrap((values,), np.mean, n_resamples=0, bootstrap_result=same, method="BCa")
    ours = bca(drawn, statistic.value, influence(plan, statistic))
    assert ours == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)
    assert ours != pytest.approx(percentile(drawn), rel=1e-3)


def test_percentile_is_the_middle_of_the_replicates():
    assert percentile(np.arange(1001.0), 0.9) == pytest.approx((50, 950))


def test_estimate_and_interval_come_from_one_estimator(labelled, answered):
    # Two types of 10 and 1000 trajectories: the macro mean weighs them alike, and so must its interval.
    types = ["wrong_tool"] * 10 + ["premature_stop"] * 1000
    rng = np.random.default_rng(0)
    named = np.where(rng.random(1010) < np.repeat([0.5, 0.9], [10, 1000]), types, "")
    named[:10] = ["wrong_tool"] * 5 + [""] * 5
    card = score(labelled([True] * 1010, None, types), {"judge": answered([True] * 1010, types=named)})[0]
    macro = card.metrics["type_macro_f1"]
    assert macro.value == pytest.approx((2 * 5 / 15 + 2 * 0.9 / 1.9) / 2, abs=0.01)
    assert macro.low < macro.value < macro.high
    pooled = card.metrics["type_joint"]
    assert macro.high - macro.low > 5 * (pooled.high - pooled.low)


def test_a_metric_undefined_in_many_resamples_gets_no_interval(labelled, answered):
    items = labelled([True] * 20)
    answers = answered([True] * 2 + [False] * 18, step=0)
    exact = score(items, {"judge": answers}, resamples=500)[0].metrics["step_exact"]
    assert (exact.value, exact.low) == (1, None)
    assert exact.reason.startswith("no interval: undefined in")


def test_a_property_of_the_set_has_no_interval(labelled, answered):
    base = score(labelled([True, True, False]), {"judge": answered([True] * 3)}, resamples=100)[0].metrics["base_rate"]
    assert (base.value, base.low, base.reason) == (
        pytest.approx(2 / 3),
        None,
        "a property of the set, not an estimate",
    )


@pytest.mark.parametrize("wrong", [{"method": "normal"}, {"level": 95}, {"resamples": 1}])
def test_an_impossible_interval_is_refused(mixed, wrong):
    items, _ = mixed
    with pytest.raises(ValueError, match="expected a method of percentile, bca"):
        estimates(design(items), [], **wrong)


def test_every_interval_of_a_middling_judge_holds_its_estimate(mixed):
    items, answers = mixed
    for method in ("percentile", "bca"):
        metrics = score(items, {"judge": answers}, resamples=1000, method=method)[0].metrics
        for name in ("precision", "recall", "f1", "roc_auc", "average_precision", "step_joint", "brier", "aurc"):
            assert metrics[name].method == method
            assert metrics[name].low < metrics[name].value < metrics[name].high


def test_an_estimate_without_replicates_has_no_interval(mixed):
    items, _ = mixed
    everyone = np.ones(len(items.ids), dtype=bool)
    assert estimate(design(items), rate(items.faulty, everyone, "", fixed=True), None).low is None
