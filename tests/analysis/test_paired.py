"""Paired tests against statsmodels, brute force and hand-worked values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_statsmodels
from statsmodels.stats.multitest import multipletests

from trajaudit.analysis import delong, holm, mcnemar
from trajaudit.analysis.paired import cluster_differences, detectable, detectable_rate


@pytest.mark.parametrize(("only_a", "only_b"), [(12, 2), (5, 5), (0, 1), (0, 0), (40, 61), (30, 0)])
def test_mcnemar_is_that_of_statsmodels(only_a, only_b):
    a = np.r_[np.ones(only_a), np.zeros(only_b), np.ones(100)].astype(bool)
    b = np.r_[np.zeros(only_a), np.ones(only_b), np.ones(100)].astype(bool)
    expected = mcnemar_statsmodels([[100, only_a], [only_b, 0]], exact=True).pvalue
    assert mcnemar(a, b) == pytest.approx(expected, rel=1e-9)


def test_pairing_finds_what_an_unpaired_test_misses():
    # 220 trajectories, 12 against 2 discordant: unpaired z gives p = .265, McNemar p = .013.
    a, b = np.zeros(220, dtype=bool), np.zeros(220, dtype=bool)
    a[:12] = b[12:14] = True
    a[14:149] = b[14:149] = True
    pooled = (a.mean() + b.mean()) / 2
    unpaired = 2 * stats.norm.sf((a.mean() - b.mean()) / np.sqrt(pooled * (1 - pooled) * 2 / 220))
    assert unpaired > 0.25
    assert mcnemar(a, b) == pytest.approx(0.01294, abs=1e-5)


def test_the_clustered_test_is_exact_over_all_sign_flips():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(9), 4)
    a, b = rng.random(36) < 0.7, rng.random(36) < 0.4
    sums = cluster_differences(a, b, cluster)
    flips = [abs(int(np.dot(signs, sums))) >= abs(int(sums.sum())) for signs in product((-1, 1), repeat=9)]
    assert mcnemar(a, b, cluster) == pytest.approx(np.mean(flips))


def test_siblings_that_agree_are_one_piece_of_evidence():
    a, b = np.ones(20, dtype=bool), np.zeros(20, dtype=bool)
    assert mcnemar(a, b) == pytest.approx(2 / 2**20)
    assert mcnemar(a, b, np.repeat(np.arange(4), 5)) == pytest.approx(2 / 2**4)


def test_delong_by_hand():
    # Faulty score 3 and 2, clean 1 and 2: area (1 + 1 + 1 + 1/2) / 4. Placements 1 and 3/4 on both sides, variance
    # 1/32 each, over 2 each: 1/32 in all. The other auditor gives everyone the same score.
    faulty = np.array([True, True, False, False])
    difference, error, p = delong(np.array([3.0, 2, 1, 2]), np.zeros(4), faulty)
    assert difference == pytest.approx(0.875 - 0.5)
    assert error == pytest.approx((1 / 32) ** 0.5)
    assert p == pytest.approx(2 * stats.norm.sf(0.375 / (1 / 32) ** 0.5))


def _naive_delong(a, b, faulty):
    """The placements of every pair, and their covariances (DeLong et al. 1988)."""
    kernels = [(np.sign(s[faulty][:, None] - s[~faulty]) + 1) / 2 for s in (a, b)]
    m, n = kernels[0].shape
    by_faulty = np.cov([k.mean(axis=1) for k in kernels])
    by_clean = np.cov([k.mean(axis=0) for k in kernels])
    contrast = np.array([1, -1])
    return kernels[0].mean() - kernels[1].mean(), (contrast @ (by_faulty / m + by_clean / n) @ contrast) ** 0.5


def _scored(n, seed=0):
    rng = np.random.default_rng(seed)
    faulty = rng.random(n) < 0.6
    shared = faulty + rng.normal(0, 1, n)
    return np.round(shared + rng.normal(0, 0.5, n), 1), shared + rng.normal(0, 1, n), faulty


def test_delong_agrees_with_all_pairs():
    a, b, faulty = _scored(150)
    assert delong(a, b, faulty)[:2] == pytest.approx(_naive_delong(a, b, faulty))


def test_delong_with_clusters_of_one_is_delong_and_with_copies_is_not_fooled():
    a, b, faulty = _scored(150)
    alone = delong(a, b, faulty)
    assert delong(a, b, faulty, np.arange(150)[::-1]) == pytest.approx(alone)
    copies = [np.repeat(x, 4) for x in (a, b, faulty)]
    assert delong(*copies)[1] == pytest.approx(alone[1] / 2, rel=0.02)
    assert delong(*copies, np.repeat(np.arange(150), 4))[1] == pytest.approx(alone[1], rel=1e-9)


def test_auditors_with_the_same_scores_have_no_test():
    a, _, faulty = _scored(40)
    assert delong(a, a, faulty) == (0, 0, None)


def test_delong_refuses_one_class():
    with pytest.raises(ValueError, match="got one class"):
        delong(np.zeros(3), np.zeros(3), np.ones(3, dtype=bool))


def test_holm_is_that_of_statsmodels_and_leaves_out_tests_never_made():
    p_values = np.random.default_rng(0).random(12) ** 3
    assert holm(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1])
    with_gaps = [0.01, None, 0.02]
    assert holm(with_gaps) == [0.02, None, 0.02]


def test_twelve_comparisons_without_a_difference_rarely_give_one_after_holm():
    rng, families = np.random.default_rng(1), 2000
    p_of = [stats.binomtest(heads, 60).pvalue for heads in range(61)]
    found = {"as they are": 0, "holm": 0}
    for _ in range(families):
        p_values = [p_of[heads] for heads in rng.binomial(60, 0.5, 12)]
        found["as they are"] += min(p_values) < 0.05
        found["holm"] += min(p for p in holm(p_values) if p is not None) < 0.05
    assert found["holm"] / families <= 0.05
    assert found["as they are"] / families > 0.25


def test_the_detectable_difference_solves_connors_equation_and_is_found_four_times_in_five():
    n, discordance, alpha = 400, 0.1, 0.05
    effect = detectable_rate(np.r_[np.ones(20), -np.ones(20), np.zeros(360)].astype(int), n, alpha)
    z_alpha, z_power = stats.norm.ppf(1 - alpha / 2), stats.norm.ppf(0.8)
    needed = (z_alpha * discordance**0.5 + z_power * (discordance - effect**2) ** 0.5) ** 2 / effect**2
    assert needed == pytest.approx(n)
    rng = np.random.default_rng(0)
    only_a, only_b = (discordance + effect) / 2, (discordance - effect) / 2
    draws = rng.multinomial(n, [only_a, only_b, 1 - discordance], 2000)
    power = np.mean(2 * stats.binom.sf(draws[:, 0] - 1, draws[:, :2].sum(axis=1), 0.5) < alpha)
    assert 0.74 <= power <= 0.84


def test_where_nothing_is_discordant_nothing_is_known_of_power():
    assert detectable_rate(np.zeros(5, dtype=int), 5, 0.05) is None
    assert detectable(0.0, 0.05) is None
    assert detectable(1.0, 0.05) == pytest.approx(2.8016, abs=1e-4)


def test_with_too_few_trajectories_no_difference_is_detectable_and_none_is_claimed():
    # Connor: a root exists only where n + 0.84^2 reaches the squared quantile of alpha: 3.84 at 5 %, 10.8 at 0.1 %.
    assert detectable_rate(np.array([1, -1, 1]), 3, 0.05) is None
    assert detectable_rate(np.array([1, -1, 1]), 4, 0.05) is not None
    assert detectable_rate(np.array([1, -1, 1]), 10, 0.001) is None


def test_one_cluster_has_no_error_and_no_p_value():
    rng = np.random.default_rng(0)
    a, b, faulty = rng.random(60), rng.random(60), np.arange(60) % 2 == 0
    difference, error, p = delong(a, b, faulty, np.zeros(60, dtype=np.int64))
    assert difference == delong(a, b, faulty)[0] != 0
    assert (error, p) == (0, None), "rounding left a p value of 0"
