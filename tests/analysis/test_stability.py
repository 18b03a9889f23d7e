"""Variants of one prompt, by hand: flips count every change of mind, shifts what does not cancel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from trajaudit.analysis.stability import FLAG, Opinions, opinions, stability
from trajaudit.trajectory import Source, Step, Trajectory
from trajaudit.verdict import Verdict

TYPES = ("factual", "scope")


def said(flags: str, named: str | None = None) -> Opinions:
    """Opinions from a letter a run: y faulty, n clean, x not answered; ``named``: f, s, b (both) or -."""
    answered = np.array([letter != "x" for letter in flags])
    kinds = named or "-" * len(flags)
    matrix = np.array([[kind in "fb", kind in "sb"] for kind in kinds])
    return Opinions(answered, np.array([letter == "y" for letter in flags]), matrix & answered[:, None])


def compared(default: Opinions, variant: Opinions, groups: list[str] | None = None, **told):
    groups = groups or [f"g{i}" for i in range(len(default.answered))]
    return stability(groups, {"d": default, "v": variant}, "d", TYPES, **({"resamples": 2000} | told))


def test_flips_that_cancel_are_flips_and_no_shift() -> None:
    found = compared(said("yyyynnnn"), said("yynnyynn"))
    (flips,) = found.flips
    assert (flips.rate.value, flips.to_faulty.value, flips.to_clean.value) == (0.5, 0.5, 0.5)
    shift = found.shifts[0]
    assert (shift.what, shift.default.value, shift.difference.value, shift.p_value) == (FLAG, 0.5, 0.0, 1.0)


def test_a_shift_is_tested_by_exact_mcnemar() -> None:
    """Ten runs turn faulty and one turns clean: twice the binomial tail of 0 or 1 of 11, 2 x 12 / 2048."""
    found = compared(said("n" * 10 + "y" + "n" * 9), said("y" * 10 + "n" + "n" * 9))
    shift = found.shifts[0]
    assert shift.difference.value == pytest.approx(9 / 20)
    assert shift.p_value == pytest.approx(24 / 2048)
    assert shift.difference.low > 0


def test_holm_is_over_flags_and_types_of_every_variant() -> None:
    default, variant = said("n" * 20), said("y" * 20, "f" * 12 + "-" * 8)
    found = stability(
        [f"g{i}" for i in range(20)], {"d": default, "v": variant, "w": default}, "d", TYPES, resamples=200
    )
    known = [shift for shift in found.shifts if shift.p_value is not None]
    assert [(shift.variant, shift.what) for shift in known] == [("v", FLAG), ("v", "factual")]
    assert known[0].p_holm == pytest.approx(2 * known[0].p_value)
    assert [shift.p_value for shift in found.shifts if shift.variant == "w"] == [None] * 3, "nothing moved: no test"


def test_only_runs_that_both_answered_count() -> None:
    (flips,) = compared(said("yynnx"), said("ynxny")).flips
    assert (flips.rate.n, flips.rate.value) == (3, pytest.approx(1 / 3))
    (none,) = compared(said("xxyy"), said("yyxx")).flips
    assert (none.rate.value, none.rate.reason) == (None, "no run was answered under both")


def test_no_flip_in_twenty_is_not_certainty_about_the_next() -> None:
    found = compared(said("yn" * 10), said("yn" * 10))
    assert found.flips[0].rate.value == 0
    assert 0.1 < found.flips[0].rate.high < 0.2
    shift = found.shifts[0].difference
    assert (shift.value, shift.method) == (0, "newcombe")
    assert shift.low < -0.1 < 0.1 < shift.high


def test_copies_of_a_cluster_make_no_interval_narrower_and_no_p_smaller() -> None:
    default, variant = said("nnnnnyyy" * 4), said("yyynnyyy" * 4)
    apart = compared(default, variant)
    together = compared(default, variant, [f"g{i % 8}" for i in range(32)])
    a, b = apart.shifts[0], together.shifts[0]
    assert a.difference.value == b.difference.value
    assert b.difference.high - b.difference.low > 1.5 * (a.difference.high - a.difference.low)
    assert b.p_value > a.p_value


def test_agreement_is_kappa_of_flags_and_jaccard_where_both_flag() -> None:
    a, b = said("yyyynnnn", "fbs-----"), said("yyynnnny", "fss----f")
    (pair,) = compared(a, b).agreements
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(a.flagged, b.flagged))
    assert pair.jaccard.value == pytest.approx((1 + 0.5 + 1) / 3)


def test_opinions_follow_the_order_of_the_runs_and_failures_have_none() -> None:
    runs = [Trajectory(f"t{i}", "g", "task", (Step(0),), None, Source("x")) for i in range(3)]
    verdicts = [
        Verdict("t2", "c", "j", "s", faulty=True, types=("scope", "factual")),
        Verdict("t0", "c", "j", "s", "parse_fail"),
    ]
    types, found = opinions(runs, verdicts)
    assert types == ("factual", "scope"), "in the order of the taxonomy"
    assert found["j"].answered.tolist() == [False, False, True]
    assert found["j"].named.tolist() == [[False, False], [False, False], [True, True]]


def test_a_default_without_verdicts_is_refused() -> None:
    with pytest.raises(ValueError, match="default: expected one of at least two variants, got 'x'"):
        stability(["g"], {"d": said("y"), "v": said("n")}, "x", TYPES)


def test_verdicts_on_runs_of_another_set_are_no_opinions_and_no_error() -> None:
    types, found = opinions([], [Verdict("t0", "c", name, "s", faulty=True, types=("scope",)) for name in ("d", "v")])
    result = stability([], found, "d", types)
    assert [(shift.default.value, shift.p_value) for shift in result.shifts] == [(None, None)] * 2
    assert result.flips[0].rate.reason == "no run was answered under both"
    assert result.agreements[0].kappa.reason == "no item"
