"""The endpoint over real HTTP on loopback: what is tried again, what is not, and what never leaks."""

import asyncio
import email.utils
import logging
import socket
import subprocess
import sys
import time
import traceback

import pytest
from fake_endpoint import FakeEndpoint, cut, error, fail_first, hang, hang_up, junk, key_of, refuse, say, too_long

from trajaudit.llm import gate
from trajaudit.llm.budget import Budget
from trajaudit.llm.chat import ApiError, BudgetExceeded, ContextOverflow, Request
from trajaudit.llm.endpoint import Endpoint

SECRET = "sk-test-0123456789abcdef"
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "faulty": {"type": "boolean"}},
    "required": ["reasoning", "faulty"],
    "additionalProperties": False,
}


def ask(text: str = "Is it faulty?", **fields) -> Request:
    return Request(({"role": "system", "content": "You judge."}, {"role": "user", "content": text}), **fields)


def complete(fake: FakeEndpoint, *requests: Request, **settings):
    """Put requests at once to a fresh client of ``fake``; returns completions and exceptions in order."""

    async def run():
        chat = Endpoint(model="fake", base_url=fake.base_url, **settings)
        try:
            return await asyncio.gather(*(chat.complete(request) for request in requests), return_exceptions=True)
        finally:
            await chat.close()

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def quick_waits(monkeypatch):
    monkeypatch.setattr(gate, "BACKOFF_S", 0.01)


def test_a_request_is_sent_whole_and_its_reply_read_whole():
    request = ask(schema=SCHEMA, temperature=0.7, top_p=0.9, max_tokens=50, seed=3, top_logprobs=2, repeat=4)
    with FakeEndpoint() as fake:
        (reply,) = complete(fake, request, extra_body={"cache_prompt": False})
    assert fake.bodies == [
        {
            "model": "fake",
            "messages": list(request.messages),
            "temperature": 0.7,
            "top_p": 0.9,
            "max_tokens": 50,
            "seed": 3,
            "logprobs": True,
            "top_logprobs": 2,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
            },
            "cache_prompt": False,
        }
    ]
    assert reply.raw["choices"][0]["message"]["content"] == reply.text
    assert (reply.finish_reason, reply.stored, reply.refusal) == ("stop", False, None)
    assert reply.usage.calls == 1
    assert reply.usage.usd is None
    assert reply.latency_s > 0


def test_fields_that_an_endpoint_refuses_are_left_out_or_renamed():
    with FakeEndpoint() as fake:
        settings = {"structured": "json_object", "omit": ("temperature", "top_p", "seed")}
        complete(fake, ask(schema=SCHEMA), max_tokens_field="max_completion_tokens", **settings)
        complete(fake, ask(schema=SCHEMA), structured="none")
    first, second = fake.bodies
    assert set(first) == {"model", "messages", "max_completion_tokens", "response_format"}
    assert first["response_format"] == {"type": "json_object"}
    assert "response_format" not in second


@pytest.mark.parametrize(
    "trouble",
    [
        error(408),
        error(409),
        error(429),
        error(500),
        error(503),
        hang_up(),
        junk(b"<html>Bad gateway</html>"),
        junk(b'{"choices": []}'),
        junk(b'{"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}'),
        junk(b'{"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}'),
        junk(b'{"error": {"message": "upstream", "code": 502}}'),
        junk(b'{"choices": [{"message": {"content": "x"}}], "score": NaN}'),
    ],
    ids=["408", "409", "429", "500", "503", "hung up", "html", "empty", "number", "broke off", "error in 200", "nan"],
)
def test_what_may_pass_is_tried_again(trouble):
    with FakeEndpoint(lambda body, nth: trouble if nth < 2 else None) as fake:
        (reply,) = complete(fake, ask())
    assert reply.text.startswith("reply")
    assert fake.total == 3


def test_a_request_that_hangs_is_given_up_and_sent_again():
    with FakeEndpoint(lambda body, nth: hang() if nth == 0 else None) as fake:
        (reply,) = complete(fake, ask(), timeout_s=0.2)
        fake.behave = lambda body, nth: hang()
        (lost,) = complete(fake, ask("other"), timeout_s=0.1, retries=1)
    assert reply.text.startswith("reply")
    assert isinstance(lost, ApiError)
    assert "no answer in 2 tries: no answer within 0.1 s" in str(lost)


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_any_other_refusal_is_an_error_at_once_with_the_endpoints_words(status):
    with FakeEndpoint(lambda body, nth: error(status, "no such thing")) as fake:
        (refused,) = complete(fake, ask())
    assert isinstance(refused, ApiError)
    assert str(refused) == f"{status}: no such thing"
    assert fake.total == 1


def test_a_spent_account_is_not_asked_again_although_it_says_429():
    with FakeEndpoint(lambda body, nth: error(429, "You exceeded your quota", code="insufficient_quota")) as fake:
        (refused,) = complete(fake, ask())
    assert "quota" in str(refused)
    assert fake.total == 1


def test_429_twice_then_200_waits_as_told_and_429_for_ever_ends_in_an_api_error():
    with FakeEndpoint(lambda body, nth: error(429, "slow down", retry_after=0.2) if nth < 2 else None) as fake:
        began = time.monotonic()
        (reply,) = complete(fake, ask())
        assert time.monotonic() - began >= 0.4
        assert reply.text.startswith("reply")
        fake.behave = lambda body, nth: error(429, "slow down")
        (lost,) = complete(fake, ask("other"), retries=3)
    assert isinstance(lost, ApiError)
    assert "no answer in 4 tries: 429: slow down" in str(lost)
    assert fake.total == 3 + 4


def test_a_retry_after_that_is_a_date_is_honoured():
    date = email.utils.formatdate(time.time() + 2, usegmt=True)
    with FakeEndpoint(lambda body, nth: error(503, retry_after=date) if nth == 0 else None) as fake:
        began = time.time()
        (reply,) = complete(fake, ask())
    assert reply.text.startswith("reply")
    assert time.time() - began >= 0.9, "a date has whole seconds"


def test_a_retry_after_of_an_hour_is_not_slept_through():
    with FakeEndpoint(lambda body, nth: error(429, "come back later", retry_after=3600)) as fake:
        began = time.monotonic()
        lost = complete(fake, *(ask(f"question {n}") for n in range(6)), concurrency=2)
    assert time.monotonic() - began < 10, "nor are the other requests held back by it"
    assert all(isinstance(each, ApiError) for each in lost)
    assert str(lost[0]) == "fake: asked to wait 3600 s: 429: come back later"
    assert fake.total == 6


def test_concurrency_is_bounded_and_falls_when_the_endpoint_says_429():
    with FakeEndpoint(latency_s=0.05) as fake:
        complete(fake, *(ask(f"question {n}") for n in range(20)), concurrency=4)
        assert fake.peak == 4

    def crowded(body, nth):
        return error(429) if crowd.held > 4 else None

    with FakeEndpoint(crowded, latency_s=0.02) as crowd:
        replies = complete(crowd, *(ask(f"question {n}") for n in range(60)), concurrency=32, retries=10)
        assert all(not isinstance(reply, Exception) for reply in replies)


def test_one_request_in_ten_failing_once_loses_nothing_and_sends_nothing_twice_without_need():
    requests = [ask(f"question {n}") for n in range(200)]
    with FakeEndpoint(fail_first(0.1), latency_s=0.005) as fake:
        replies = complete(fake, *requests, concurrency=16)
    assert len({reply.text for reply in replies}) == 200
    assert len(fake.counts) == 200
    again = [key for key, count in fake.counts.items() if count > 1]
    assert 8 <= len(again) <= 35
    assert all(fake.counts[key] == 2 for key in again)


@pytest.mark.parametrize(
    "refusal",
    [
        too_long(),
        error(400, "request (12031 tokens) exceeds the context size", type="exceed_context_size_error"),
        error(413, "prompt is too long: 210000 tokens > 200000 maximum"),
        junk(b'{"error": {"message": "maximum context length is 4096 tokens", "code": 400}}'),
    ],
    ids=["openai", "llama.cpp", "anthropic", "gateway"],
)
def test_a_prompt_that_does_not_fit_is_an_overflow_and_no_failure(refusal):
    with FakeEndpoint(lambda body, nth: refusal) as fake:
        (reply,) = complete(fake, ask())
    assert isinstance(reply, ContextOverflow)
    assert fake.total == 1


def test_a_prompt_that_the_server_cut_in_silence_is_an_overflow():
    long = "The agent looked up order 1042. " * 300  # 1800 words, full stops and numbers at the least
    counted = {"prompt_tokens": 1024, "completion_tokens": 5}
    with FakeEndpoint(lambda body, nth: say("fine", usage=counted)) as fake:
        (reply,) = complete(fake, ask(long))
        assert isinstance(reply, ContextOverflow)
        assert "evaluated 1024 prompt tokens, at least 21" in str(reply)
        (full,) = complete(fake, ask("short"), window=1024)
        assert "all of its window of 1024" in str(full)
        (fits,) = complete(fake, ask("short"), window=4096)
        assert fits.text == "fine"


def test_cached_prompt_tokens_that_a_server_counts_apart_are_no_cut():
    counted = {"prompt_tokens": 5, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4000}}
    with FakeEndpoint(lambda body, nth: say("fine", usage=counted)) as fake:
        (reply,) = complete(fake, ask("The agent looked up order 1042. " * 300))
    assert reply.text == "fine"


def test_a_reply_cut_by_max_tokens_and_a_refusal_are_passed_on_as_what_they_are():
    acts = {"cut": cut('{"faulty": tr'), "refused": refuse("I cannot help with that.")}
    with FakeEndpoint(lambda body, nth: acts[body["messages"][1]["content"]]) as fake:
        short, refused = complete(fake, ask("cut"), ask("refused"))
    assert (short.text, short.finish_reason) == ('{"faulty": tr', "length")
    assert (refused.text, refused.refusal) == ("", "I cannot help with that.")


def test_usage_is_counted_and_priced_by_class():
    counted = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}
    with FakeEndpoint(lambda body, nth: say("ok", usage=counted)) as fake:
        price = {"input": 2.0, "cached_input": 0.5, "output": 8.0}
        (priced,) = complete(fake, ask(), price=price)
        (unpriced,) = complete(fake, ask())
    assert priced.usage.to_json() == {
        "calls": 1,
        "prompt_tokens": 1000,
        "cached_tokens": 600,
        "completion_tokens": 100,
        "usd": pytest.approx((400 * 2 + 600 * 0.5 + 100 * 8) / 1e6),
    }
    assert unpriced.usage.usd is None
    assert unpriced.usage.prompt_tokens == 1000


def test_a_budget_stops_the_run_before_the_next_request_and_in_flight_ones_finish():
    counted = {"prompt_tokens": 90, "completion_tokens": 10}
    with FakeEndpoint(lambda body, nth: say("ok", usage=counted), latency_s=0.02) as fake:
        budget = Budget(tokens=500)
        replies = complete(fake, *(ask(f"question {n}") for n in range(40)), concurrency=4, budget=budget)
    done = [reply for reply in replies if not isinstance(reply, BaseException)]
    assert 5 <= len(done) <= 5 + 3
    assert fake.total == len(done)
    assert sum(isinstance(reply, BudgetExceeded) for reply in replies) == 40 - len(done)


def test_a_budget_in_money_is_refused_before_anything_is_sent_where_the_price_is_unknown():
    with pytest.raises(ValueError, match="price of 'fake' is unknown"):
        Endpoint(model="fake", base_url="http://localhost:1/v1", budget=Budget(usd=1.0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"concurrency": 0}, "concurrency: expected 1 or more, got 0"),
        ({"retries": -1}, "retries: expected 0 or more, got -1"),
        ({"window": 0}, "window: expected 1 or more, got 0"),
        ({"timeout_s": 0}, "timeout_s: expected more than 0 seconds, got 0"),
        ({"structured": "json_shema"}, r"structured: unknown 'json_shema' \(did you mean 'json_schema'\?\)"),
        ({"omit": ("temprature",)}, r"omit: unknown 'temprature' \(did you mean 'temperature'\?\)"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        Endpoint(model="fake", base_url="http://localhost:1/v1", **settings)


def test_no_server_is_an_api_error_that_says_where_none_is():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    class Nobody:
        base_url = f"http://127.0.0.1:{port}/v1?a={SECRET}"

    (lost,) = complete(Nobody(), ask(), retries=1)
    assert isinstance(lost, ApiError)
    assert f"no connection to http://127.0.0.1:{port}/v1" in str(lost)
    assert SECRET not in str(lost)


def test_a_missing_key_names_its_variable_and_sends_nothing(monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with FakeEndpoint() as fake:
        (missing,) = complete(fake, ask(), api_key_env="JUDGE_KEY")
    assert isinstance(missing, ValueError)
    assert "JUDGE_KEY is not set" in str(missing)
    assert fake.total == 0


def test_a_key_reaches_the_endpoint_and_nothing_else(monkeypatch, caplog):
    """Neither spec, repr, reply, log nor any exception holds it, not even where the endpoint repeats it."""
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    acts = {
        "echo": say(f"You sent {SECRET}"),
        "401": error(401, f"Incorrect API key provided: {SECRET[:8]}****{SECRET[-4:]}"),
        "403": error(403, f"key {SECRET} may not do this"),
        "500": error(500, f"crashed on {SECRET}"),
        "html": junk(f"<html>{SECRET}</html>".encode()),
    }
    caplog.set_level(logging.DEBUG)
    with FakeEndpoint(lambda body, nth: acts[body["messages"][1]["content"]]) as fake:
        settings = {"api_key_env": "JUDGE_KEY", "retries": 1}
        chat = Endpoint(model="fake", base_url=fake.base_url, **settings)
        results = complete(fake, *(ask(name) for name in acts), **settings)
    assert all(headers["authorization"] == f"Bearer {SECRET}" for headers in fake.headers)
    told = [repr(chat), str(vars(chat)), str(chat.spec), str(results), caplog.text]
    told += ["".join(traceback.format_exception(each)) for each in results if isinstance(each, Exception)]
    assert not [text for text in told if SECRET in text or SECRET[:8] in text]
    assert results[0].text == "You sent [API key]"
    assert str(results[1]) == "401: the key in JUDGE_KEY was refused"


def test_an_endpoint_that_wants_a_key_where_none_is_named_says_what_to_set():
    with FakeEndpoint(lambda body, nth: error(401)) as fake:
        (refused,) = complete(fake, ask())
    assert str(refused) == "401: a key is needed: name its variable in api_key_env"


def test_the_spec_holds_what_changes_replies_and_no_part_of_an_address_that_can_be_secret():
    url = f"https://gateway.example:8443/openai/v1/?a={SECRET}"
    one = Endpoint(model="m", base_url=url, window=100, omit=("seed",), extra_body={"top_k": 1})
    assert one.spec["base_url"] == "https://gateway.example:8443/openai/v1"
    assert one.spec["extra_body"] == {"top_k": 1}
    keys = {ask().key(one.spec)}
    for change in ({"model": "n"}, {"window": 101}, {"omit": ()}, {"extra_body": {"top_k": 2}}, {"structured": "none"}):
        settings = {"model": "m", "base_url": url, "window": 100, "omit": ("seed",), "extra_body": {"top_k": 1}}
        keys.add(ask().key(Endpoint(**(settings | change)).spec))
    assert len(keys) == 6
    same = Endpoint(model="m", base_url=url, window=100, omit=("seed",), extra_body={"top_k": 1}, concurrency=1)
    assert same.spec == one.spec, "how fast it is asked changes no reply"


def test_one_endpoint_serves_one_event_loop_after_another():
    with FakeEndpoint() as fake:
        chat = Endpoint(model="fake", base_url=fake.base_url)
        texts = {asyncio.run(chat.complete(ask())).text for _ in range(2)}
        asyncio.run(chat.close())
    assert len(texts) == 1
    assert fake.counts[key_of(fake.bodies[0])] == 2


def test_a_proxy_from_the_environment_does_not_stand_before_loopback(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with FakeEndpoint() as fake:
        (reply,) = complete(fake, ask(), retries=0)
    assert reply.text.startswith("reply")


def test_importing_the_room_is_light():
    code = "import sys, trajaudit.llm.embedded, trajaudit.llm.cache; print([m for m in sys.modules if m in %r])"
    heavy = ("openai", "httpx", "xllamacpp", "yaml", "numpy")
    done = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "setting",
    [
        {"api_key_env": SECRET},
        {"base_url": f"https://user:{SECRET}@gateway.example/v1"},
        {"base_url": f"https://gateway.example/v1?api_key={SECRET}"},
    ],
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(setting):
    with pytest.raises(ValueError, match=r"^(api_key_env|base_url): expected") as caught:
        Endpoint(**{"model": "m", "base_url": "https://gateway.example/v1", **setting})
    assert SECRET not in str(caught.value)
