"""A judge against itself: Fleiss's kappa, each run counting once however often it was judged."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from trajaudit.analysis.repeats import self_agreement


def test_kappa_is_fleisss_where_every_run_was_judged_as_often() -> None:
    rng = np.random.default_rng(0)
    said = (rng.random(60)[:, None] < 0.5) ^ (rng.random((60, 4)) < 0.15)
    table, _ = aggregate_raters(said.astype(int))
    _, kappa = self_agreement(said.tolist())
    assert kappa.value == pytest.approx(fleiss_kappa(table))


def test_two_judgments_by_hand() -> None:
    # Pairs agree in 3 of 4 runs; yes in 3 of 8 judgments, so chance agrees at (3/8)^2 + (5/8)^2 = 34/64.
    agreement, kappa = self_agreement([(True, True), (False, False), (True, False), (False, False)])
    assert agreement.value == 0.75
    assert kappa.value == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))


def test_a_run_judged_forty_times_counts_as_one_run() -> None:
    agreement, _ = self_agreement([[True] * 39 + [False], (True, False)])
    assert agreement.value == pytest.approx((38 / 40 + 0) / 2)


def test_a_judge_that_always_says_the_same_has_no_kappa() -> None:
    agreement, kappa = self_agreement([(True, True), (True, True)])
    assert agreement.value == 1
    assert (kappa.value, kappa.reason) == (None, "every judgment says the same: chance explains all")


def test_a_run_that_was_judged_once_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two of every run"):
        self_agreement([(True,)])


def test_no_judgments_have_no_agreement_and_say_so() -> None:
    assert [(one.value, one.reason) for one in self_agreement([])] == [(None, "no run was judged twice")] * 2
