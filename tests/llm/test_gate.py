"""The gate and its waits: how a run finds the rate that an endpoint allows."""

import asyncio
import email.utils
import time

import pytest

from trajaudit.llm import gate
from trajaudit.llm.gate import Gate, backoff, retry_after


def test_retry_after_is_read_as_seconds_milliseconds_or_a_date():
    assert retry_after({"retry-after": "3"}) == 3.0
    assert retry_after({"retry-after": "3", "retry-after-ms": "120"}) == 0.12
    later = email.utils.formatdate(time.time() + 40, usegmt=True)
    assert retry_after({"retry-after": later}) == pytest.approx(40, abs=1.5)
    past = email.utils.formatdate(time.time() - 40, usegmt=True)
    assert retry_after({"retry-after": past}) == 0.0


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", ""])
def test_a_retry_after_that_makes_no_sense_is_no_retry_after(text):
    assert retry_after({"retry-after": text}) is None
    assert retry_after({}) is None


def test_waits_have_full_jitter_under_a_ceiling_that_doubles_up_to_a_maximum():
    for attempt, ceiling in ((0, 0.5), (1, 1.0), (4, 8.0), (20, gate.BACKOFF_MAX_S)):
        waits = [backoff(attempt, None) for _ in range(2000)]
        assert 0 <= min(waits) < 0.05 * ceiling
        assert 0.95 * ceiling < max(waits) <= ceiling
    assert all(2.0 <= backoff(20, 2.0) <= 2.5 for _ in range(100)), "never before the time that was asked for"


def test_a_burst_of_refusals_halves_the_concurrency_once_and_it_grows_back_slowly(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(gate.time, "monotonic", lambda: clock[0])
    full = Gate(64)
    for _ in range(30):
        full.refused(0.0)
    assert full.allowed == 32
    clock[0] += gate.COOL_S
    full.refused(0.0)
    assert full.allowed == 16
    for _ in range(16):
        full.answered()
    assert full.allowed == 20, "a full round of answers lets a quarter more through"
    for _ in range(1000):
        full.answered()
    assert full.allowed == 64


def test_concurrency_never_falls_below_one(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(gate.time, "monotonic", lambda: clock[0])
    small = Gate(4)
    for _ in range(10):
        clock[0] += 2
        small.refused(0.0)
    assert small.allowed == 1.0


def test_no_more_than_the_limit_pass_at_once_and_a_cancelled_one_leaves_its_place():
    async def run():
        narrow, held, peak = Gate(3), 0, 0

        async def one(seconds):
            nonlocal held, peak
            async with narrow:
                held += 1
                peak = max(peak, held)
                try:
                    await asyncio.sleep(seconds)
                finally:
                    held -= 1

        stuck = [asyncio.create_task(one(60)) for _ in range(3)]
        waiting = [asyncio.create_task(one(0.01)) for _ in range(9)]
        await asyncio.sleep(0.05)
        waiting[0].cancel()
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, *waiting, return_exceptions=True)
        return peak, narrow.active, sum(not task.cancelled() for task in waiting)

    assert asyncio.run(run()) == (3, 0, 8)


def test_retry_after_holds_back_every_request():
    async def run():
        narrow = Gate(4)
        narrow.refused(0.15)
        began = time.monotonic()
        async with narrow:
            return time.monotonic() - began

    assert asyncio.run(run()) >= 0.15
