"""Judges that look at nothing are deterministic baselines."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from scipy.stats import binomtest
from scripted_chat import refund_run

from trajaudit.judges.trivial import ConstantJudge, RandomJudge


def tosses(judge: RandomJudge, n: int) -> list[bool | None]:
    return [asyncio.run(judge.judge(refund_run((i,)))).faulty for i in range(n)]


@pytest.mark.parametrize(("faulty", "name", "score"), [(True, "always_faulty", 1.0), (False, "never_faulty", 0.0)])
def test_constant_judges_say_one_thing(faulty, name, score):
    verdict = asyncio.run(ConstantJudge(faulty).judge(refund_run()))
    assert (verdict.faulty, verdict.score, verdict.auditor, verdict.usage.usd) == (faulty, score, name, 0.0)


def test_the_random_judge_flags_at_its_rate():
    flagged = sum(map(bool, tosses(RandomJudge(0.75), 600)))
    assert binomtest(flagged, 600, 0.75).pvalue > 0.001


def test_a_toss_depends_on_content_and_seed_not_on_id_order_or_run():
    judge, run = RandomJudge(0.5, seed=3), refund_run()
    forward, backward = (
        tosses(judge, 40),
        [asyncio.run(judge.judge(refund_run((i,)))).faulty for i in reversed(range(40))],
    )
    assert forward == backward[::-1] == tosses(RandomJudge(0.5, seed=3), 40)
    assert asyncio.run(judge.judge(run)).faulty == asyncio.run(judge.judge(replace(run, id="other"))).faulty
    assert forward != tosses(RandomJudge(0.5, seed=4), 40)


def test_a_higher_rate_only_adds_flags():
    low, high = tosses(RandomJudge(0.3), 100), tosses(RandomJudge(0.6), 100)
    assert all(b for a, b in zip(low, high, strict=True) if a)


def test_rates_of_zero_and_one_are_constant_and_others_refused():
    assert set(tosses(RandomJudge(0), 50)) == {False}
    assert set(tosses(RandomJudge(1), 50)) == {True}
    with pytest.raises(ValueError, match="rate"):
        RandomJudge(1.5)
