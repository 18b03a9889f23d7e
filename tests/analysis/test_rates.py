"""Rates of groups that saw the same clusters."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportions_chisquare

from trajaudit.analysis.rates import auc_against_chance, rate_differences


def clustered(rates: dict[str, float], clusters: int, spread: float, seed: int):
    """One item of each group in each cluster; a cluster shifts the rates of all groups alike."""
    rng = np.random.default_rng(seed)
    shift = rng.choice([-spread, spread], clusters)
    hit = np.array([rng.random() < rate + s for s in shift for rate in rates.values()])
    return hit, list(rates) * clusters, [str(i) for i in range(clusters) for _ in rates]


def test_without_dependence_it_is_the_chi_squared_test_of_proportions() -> None:
    hit, group, _ = clustered({"a": 0.4, "b": 0.5, "c": 0.6}, 400, 0.0, 1)
    made = rate_differences(hit, group, [str(i) for i in range(len(hit))])
    counts = [int(hit[np.array(group) == name].sum()) for name in "abc"]
    reference = proportions_chisquare(counts, [400] * 3)
    assert made.statistic == pytest.approx(reference[0], rel=0.05)
    assert made.rates == {name: pytest.approx(count / 400) for name, count in zip("abc", counts, strict=True)}


def test_pairing_by_cluster_finds_what_runs_taken_apart_do_not() -> None:
    hit, group, cluster = clustered({"a": 0.42, "b": 0.5}, 150, 0.4, 3)
    paired = rate_differences(hit, group, cluster)
    apart = rate_differences(hit, group, [str(i) for i in range(len(hit))])
    assert paired.p_value < 0.5 * apart.p_value
    assert paired.pairs[0].log_odds_ratio == pytest.approx(apart.pairs[0].log_odds_ratio, abs=0.02)


def test_under_the_null_one_test_in_twenty_rejects() -> None:
    rejected = 0
    for seed in range(200):
        made = rate_differences(*clustered({"a": 0.5, "b": 0.5, "c": 0.5}, 60, 0.35, seed))
        rejected += made.p_value < 0.05
    assert 3 <= rejected <= 22  # binomial(200, 0.05) holds 99.8 % there, a little liberal with 60 clusters


def test_holm_is_taken_over_all_pairs() -> None:
    made = rate_differences(*clustered({"a": 0.3, "b": 0.5, "c": 0.7}, 100, 0.1, 5))
    assert [(pair.a, pair.b) for pair in made.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    smallest = min(made.pairs, key=lambda pair: pair.p_value)
    assert smallest.p_holm == pytest.approx(3 * smallest.p_value)


def test_odds_that_are_infinite_and_a_single_group_are_refused() -> None:
    with pytest.raises(ValueError, match="group 'b': all or none of its items are hits"):
        rate_differences(np.array([True, False, True, True]), ["a", "a", "b", "b"], list("wxyz"))
    with pytest.raises(ValueError, match="expected at least two groups"):
        rate_differences(np.array([True, False]), ["a", "a"], ["x", "y"])


def test_an_auc_of_0_689_on_27_items_is_not_distinguishable_from_chance() -> None:
    low, _, p_value = auc_against_chance(0.689, 14, 13)
    assert low < 0.5
    assert p_value > 0.05
