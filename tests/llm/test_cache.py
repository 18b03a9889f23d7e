"""The response cache: what is stored is never asked for again, whatever happens to the process."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint, error, say

from trajaudit._fields import RecordError
from trajaudit._log import LogLocked
from trajaudit.llm.budget import Budget
from trajaudit.llm.cache import Cached
from trajaudit.llm.chat import ApiError, BudgetExceeded, Request
from trajaudit.llm.endpoint import Endpoint

FAKE = Path(__file__).parents[1] / "fake_endpoint.py"


def ask(text: str = "Is it faulty?", **fields) -> Request:
    return Request(({"role": "user", "content": text},), **fields)


def complete(fake, path, *requests, **settings):
    async def run():
        chat = Cached(Endpoint(**({"model": "fake", "base_url": fake.base_url} | settings)), path)
        try:
            return await asyncio.gather(*(chat.complete(request) for request in requests), return_exceptions=True)
        finally:
            await chat.close()

    return asyncio.run(run())


def test_a_stored_answer_is_never_sent_again_and_keeps_its_usage_and_latency(tmp_path):
    with FakeEndpoint() as fake:
        (first,) = complete(fake, tmp_path / "calls.jsonl", ask())
        (second,) = complete(fake, tmp_path / "calls.jsonl", ask())
    assert fake.total == 1
    assert (first.stored, second.stored) == (False, True)
    assert (first.text, first.usage, first.latency_s, first.raw) == (
        second.text,
        second.usage,
        second.latency_s,
        second.raw,
    )


def test_a_run_whose_answers_are_all_stored_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-0123456789")
    with FakeEndpoint() as fake:
        complete(fake, tmp_path / "calls.jsonl", ask(), api_key_env="JUDGE_KEY")
        monkeypatch.delenv("JUDGE_KEY")
        (again,) = complete(fake, tmp_path / "calls.jsonl", ask(), api_key_env="JUDGE_KEY")
    assert again.stored
    assert "sk-0123456789" not in (tmp_path / "calls.jsonl").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.7},
        {"top_p": 0.9},
        {"max_tokens": 2048},
        {"seed": 1},
        {"seed": None},
        {"repeat": 1},
        {"top_logprobs": 2},
        {"schema": {"type": "object"}},
    ],
)
def test_every_field_of_a_request_is_part_of_its_key(tmp_path, change):
    with FakeEndpoint() as fake:
        replies = complete(fake, tmp_path / "calls.jsonl", ask(), ask(**change))
    assert fake.total == 2
    assert not any(reply.stored for reply in replies)


def test_the_answer_of_another_model_is_never_returned(tmp_path):
    with FakeEndpoint() as fake:
        (one,) = complete(fake, tmp_path / "calls.jsonl", ask(), model="a")
        (two,) = complete(fake, tmp_path / "calls.jsonl", ask(), model="b")
    assert fake.total == 2
    assert not two.stored
    assert one.text != two.text


def test_the_same_question_at_the_same_time_is_sent_once(tmp_path):
    with FakeEndpoint(latency_s=0.05) as fake:
        replies = complete(fake, tmp_path / "calls.jsonl", *[ask()] * 5)
    assert fake.total == 1
    assert [reply.stored for reply in replies] == [False, True, True, True, True]


def test_the_raw_reply_of_a_text_that_will_not_parse_is_kept(tmp_path):
    with FakeEndpoint(lambda body, nth: say("sorry, no JSON today", reasoning_content="hm")) as fake:
        complete(fake, tmp_path / "calls.jsonl", ask())
    (line,) = (tmp_path / "calls.jsonl").read_text().splitlines()
    message = json.loads(line)["raw"]["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "sorry, no JSON today", "reasoning_content": "hm"}


def test_a_failure_is_not_stored_and_is_asked_again(tmp_path):
    with FakeEndpoint(lambda body, nth: error(400) if nth == 0 else None) as fake:
        (lost,) = complete(fake, tmp_path / "calls.jsonl", ask())
        (found,) = complete(fake, tmp_path / "calls.jsonl", ask())
    assert isinstance(lost, ApiError)
    assert not found.stored


def test_stored_answers_cost_no_budget(tmp_path):
    with FakeEndpoint() as fake:
        complete(fake, tmp_path / "calls.jsonl", ask("one"))
        stored, new = complete(fake, tmp_path / "calls.jsonl", ask("one"), ask("two"), budget=Budget(tokens=0))
    assert stored.stored
    assert isinstance(new, BudgetExceeded)


def test_a_request_under_way_when_its_asker_is_cancelled_is_finished_and_stored(tmp_path):
    async def run(fake):
        chat = Cached(Endpoint(model="fake", base_url=fake.base_url), tmp_path / "calls.jsonl")
        asker = asyncio.create_task(chat.complete(ask()))
        while fake.total == 0:
            await asyncio.sleep(0.01)
        asker.cancel()
        await chat.close()

    with FakeEndpoint(latency_s=0.1) as fake:
        asyncio.run(run(fake))
        (reply,) = complete(fake, tmp_path / "calls.jsonl", ask())
    assert reply.stored
    assert fake.total == 1


def test_a_torn_last_line_is_asked_again_and_a_torn_line_elsewhere_is_an_error(tmp_path):
    path = tmp_path / "calls.jsonl"
    with FakeEndpoint() as fake:
        complete(fake, path, ask("one"), ask("two"))
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        replies = complete(fake, path, ask("one"), ask("two"))
        assert sorted(reply.stored for reply in replies) == [False, True]
        assert fake.total == 3
        path.write_bytes(whole[:50] + b"\n" + whole)
        with pytest.raises(RecordError, match=r"calls\.jsonl:1: not valid JSON"):
            complete(fake, path, ask("one"))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line + line, r"calls\.jsonl:2: key: the same call is already stored at .*calls\.jsonl:1"),
        (lambda line: line.replace(b'"text":', b'"txet":'), r"unknown key 'txet' \(did you mean 'text'\?\)"),
        (lambda line: line.replace(b'"calls":1', b'"calls":true'), r"usage\.calls: expected an integer, got True"),
    ],
    ids=["twice", "key", "type"],
)
def test_a_line_that_is_no_call_is_an_error_by_line_and_key(tmp_path, edit, message):
    path = tmp_path / "calls.jsonl"
    with FakeEndpoint() as fake:
        complete(fake, path, ask())
        path.write_bytes(edit(path.read_bytes()))
        with pytest.raises(RecordError, match=message):
            complete(fake, path, ask())


def test_one_process_at_a_time_holds_a_cache(tmp_path):
    endpoint = Endpoint(model="fake", base_url="http://127.0.0.1:1/v1")
    held = Cached(endpoint, tmp_path / "calls.jsonl")
    with pytest.raises(LogLocked):
        Cached(endpoint, tmp_path / "calls.jsonl")
    asyncio.run(held.close())


_RUN = """
import asyncio, sys
from trajaudit.llm.cache import Cached
from trajaudit.llm.chat import Request
from trajaudit.llm.endpoint import Endpoint

async def main(base_url, path):
    chat = Cached(Endpoint(model="fake", base_url=base_url, concurrency=4), path)
    asks = [Request(({"role": "user", "content": f"question {n}"},)) for n in range(60)]
    replies = await asyncio.gather(*(chat.complete(ask) for ask in asks))
    await chat.close()
    print(*(reply.text for reply in replies), sep="\\n")

asyncio.run(main(*sys.argv[1:]))
"""


def test_kill_9_at_any_moment_sends_again_at_most_what_was_in_flight(tmp_path):
    path, concurrency, kills = tmp_path / "calls.jsonl", 4, 0
    with FakeEndpoint(latency_s=0.03) as fake:
        command = [sys.executable, "-c", _RUN, fake.base_url, str(path)]
        for stop_at in (7, 25, 41):
            run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            while len(fake.counts) < stop_at:
                assert run.poll() is None
                time.sleep(0.002)
            run.kill()
            run.wait()
            kills += 1
        rest = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        assert fake.total - len(fake.counts) <= kills * concurrency
        assert len(fake.counts) == 60
        straight = complete(fake, tmp_path / "fresh.jsonl", *(ask(f"question {n}") for n in range(60)))
    assert rest == [reply.text for reply in straight]
    keys = Counter(json.loads(line)["key"] for line in path.read_text().splitlines())
    assert len(keys) == 60
    assert set(keys.values()) == {1}


def test_the_fake_endpoint_runs_as_a_process_and_tells_its_counts(tmp_path):
    command = [sys.executable, str(FAKE), "--latency", "0.01", "--fail", "0.5", "--status", "500"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        base_url = process.stdout.readline().strip()

        class Fake:
            pass

        Fake.base_url = base_url
        replies = complete(Fake, tmp_path / "calls.jsonl", *(ask(f"question {n}") for n in range(20)))
        from urllib.request import ProxyHandler, build_opener

        told = json.load(build_opener(ProxyHandler({})).open(base_url.removesuffix("/v1") + "/counts"))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert all(reply.text.startswith("reply") for reply in replies)
    assert len(told["counts"]) == 20
    assert told["total"] == sum(told["counts"].values())
    assert set(told["counts"].values()) == {1, 2}


def test_an_answer_that_another_run_paid_for_is_not_asked_for_again(tmp_path):
    with FakeEndpoint() as fake:

        async def ask_through(path, others):
            chat = Cached(Endpoint(model="fake", base_url=fake.base_url), path, others)
            reply = await chat.complete(Request(({"role": "user", "content": "one"},)))
            await chat.close()
            return reply.text

        first = asyncio.run(ask_through(tmp_path / "a.jsonl", []))
        torn = tmp_path / "torn.jsonl"
        torn.write_bytes((tmp_path / "a.jsonl").read_bytes() + b'{"key": "half')
        assert asyncio.run(ask_through(tmp_path / "b.jsonl", [torn])) == first
        assert fake.total == 1
        assert torn.read_bytes().endswith(b'"half'), "another run's file is never written"
