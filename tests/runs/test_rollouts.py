"""Episodes are stored as they end, and what ended is never played again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError, dumps
from trajaudit.episode import Rollout
from trajaudit.llm.chat import BudgetExceeded
from trajaudit.runs.rollouts import EpisodeStore, Rolled, roll_out
from trajaudit.testbeds.support_desk.episodes import support_desk
from trajaudit.verdict import Usage

BED = support_desk(preset="paper", n=6)
IDS = [episode.id for episode in BED.episodes()]


def ended(episode, status: str = "finished") -> Rollout:
    run = make_run(episode.id) if status == "finished" else None
    return Rollout(episode.id, "spec", status, run, 1, Usage(1, 10, 0, 5, 0.1), 0.5, None)


def rolled(path, play: Callable[..., Awaitable[Rollout]], concurrency: int = 2) -> Rolled:
    with EpisodeStore(path) as store:
        job = roll_out(play, BED.episodes(), store, "spec", label="test", total=6, concurrency=concurrency)
        return asyncio.run(job)


def test_a_rollout_is_read_back_as_it_was() -> None:
    one = ended(next(BED.episodes()))
    assert Rollout.from_json(one.to_json()) == one
    with pytest.raises(RecordError, match="status: expected one of finished, stopped"):
        Rollout("e", "s", "fine")
    with pytest.raises(RecordError, match="trajectory: expected none where status is api_error"):
        Rollout("e", "s", "api_error", make_run())


def test_episodes_come_out_in_their_order_however_long_each_takes(tmp_path) -> None:
    async def play(episode):
        await asyncio.sleep(0.02 if episode.id == IDS[0] else 0)
        return ended(episode)

    done = rolled(tmp_path / "e.jsonl", play, 3)
    assert [rollout.episode for rollout in done.rollouts] == IDS
    assert (done.complete, done.statuses) == (True, {"finished": 6})
    assert done.usage == Usage(6, 60, 0, 30, pytest.approx(0.6))


def test_what_ended_is_not_played_again_and_what_failed_is(tmp_path) -> None:
    asked: list[str] = []

    async def play(episode):
        asked.append(episode.id)
        if episode.id == IDS[1] and asked.count(IDS[1]) == 1:
            return Rollout(episode.id, "spec", "api_error", detail="down")
        if episode.id == IDS[2] and asked.count(IDS[2]) == 1:
            raise KeyError("nobody foresaw this")
        return ended(episode, "parse_fail" if episode.id == IDS[3] else "finished")

    first = rolled(tmp_path / "e.jsonl", play)
    assert not first.complete
    assert first.statuses == {"finished": 3, "api_error": 1, "not_run": 1, "parse_fail": 1}
    assert first.rollouts[2].detail == "KeyError: 'nobody foresaw this'"
    second = rolled(tmp_path / "e.jsonl", play)
    assert asked[6:] == IDS[1:3], "a bad ending is an ending"
    assert (second.complete, second.resumed) == (True, 4)


def test_a_spent_budget_stops_the_run_and_keeps_what_ended(tmp_path) -> None:
    async def play(episode):
        if episode.id == IDS[2]:
            raise BudgetExceeded("budget.tokens: 105 of 100 tokens spent")
        return ended(episode)

    done = rolled(tmp_path / "e.jsonl", play, 1)
    assert (len(done.rollouts), done.complete) == (2, False)
    assert done.stopped == "budget.tokens: 105 of 100 tokens spent"


def test_a_torn_last_line_is_played_again_and_a_second_ending_is_an_error(tmp_path) -> None:
    async def play(episode):
        return ended(episode)

    path = tmp_path / "e.jsonl"
    rolled(path, play)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert rolled(path, play).resumed == 5
    assert path.read_bytes() == whole
    path.write_bytes(whole + dumps(ended(next(BED.episodes())).to_json()).encode() + b"\n")
    with pytest.raises(RecordError, match=r"e\.jsonl:7: episode: .* has already ended"):
        EpisodeStore(path)
