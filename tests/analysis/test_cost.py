"""What a verdict costs: nothing unknown is counted as nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trajaudit.analysis import score
from trajaudit.analysis.cost import cost


def test_one_unknown_price_makes_the_mean_unknown_and_never_zero(answered):
    answers = answered([True] * 3, cost=2.0)
    answers = replace(answers, cost={**answers.cost, "usd": np.array([0.1, np.nan, 0.1])})
    statistics = cost(answers, None)
    assert statistics["calls"].value == 2
    assert (statistics["usd"].value, statistics["usd"].reason) == (None, "unknown for 1 of 3 verdicts")


def test_a_failed_verdict_was_paid_for_and_one_that_was_never_asked_for_was_not(answered):
    answers = answered([True] * 3, cost=3.0, ok=[True, False, False])
    answers = replace(answers, status=np.array(["ok", "parse_fail", "not_run"]))
    answers = replace(answers, cost={name: np.array([3.0, 5.0, np.nan]) for name in answers.cost})
    assert cost(answers, None)["seconds"].value == 4


def test_seconds_are_set_against_the_reference_auditor(labelled, answered):
    items = labelled([True] * 4)
    tables = {"rules": answered([True] * 4, cost=0.5, auditor="rules"), "judge": answered([True] * 4, cost=4.0)}
    cards = {card.auditor: card for card in score(items, tables, resamples=50)}
    assert cards["judge"].metrics["seconds_ratio"].value == 8
    assert cards["rules"].metrics["seconds_ratio"].value == 1
    alone = score(items, {"judge": tables["judge"]}, resamples=50)[0].metrics["seconds_ratio"]
    assert (alone.value, alone.reason) == (None, "the reference auditor has no verdicts here")


def test_a_cost_that_never_varies_is_a_constant(labelled, answered):
    estimate = score(labelled([True] * 4), {"judge": answered([True] * 4, cost=1.0)}, resamples=50)[0].metrics["calls"]
    assert (estimate.value, estimate.low, estimate.high, estimate.method) == (1, 1, 1, "constant")
