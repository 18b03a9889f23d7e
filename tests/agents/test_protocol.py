"""A reply is exactly a call, or it is none and is told why."""

import hashlib

import pytest

from trajaudit._fields import RecordError, canonical
from trajaudit.agents.protocol import JsonActions, Move, NativeCalls
from trajaudit.episode import Tool
from trajaudit.llm.chat import Completion, Request
from trajaudit.verdict import Usage

LOOK = Tool("look", "Look at it.", {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
SAY = Tool("say", "Say it.", {"type": "object", "properties": {}, "required": []})


def reply(text: str) -> Completion:
    return Completion(text, "stop", Usage(1), 0.1)


def native(text: str, *calls: object) -> Completion:
    raw = {"choices": [{"message": {"content": text, "tool_calls": list(calls)}}]}
    return Completion(text, "tool_calls", Usage(1), 0.1, raw)


def call(name: object, arguments: object, call_id: object = "c1") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "text",
    [
        '{"thought": "t", "tool": "look", "args": {"at": "x"}}',
        '\n```json\n{"tool": "look", "args": {"at": "x"}, "thought": "t"}\n```\n',
    ],
)
def test_one_object_is_a_call(text: str) -> None:
    assert JsonActions().moves(reply(text)) == [Move("t", "look", {"at": "x"})]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I will look.", "not valid JSON"),
        ('I call {"thought": "", "tool": "look", "args": {}}', "not valid JSON"),
        ('{"thought": "", "tool": "look", "args": {}} {"thought": "", "tool": "say", "args": {}}', "not valid JSON"),
        ('{"thought": "", "tool": "look"}', "reply.args: missing; expected an object"),
        ('{"thought": "", "tool": "look", "args": "x"}', "reply.args: expected an object, got 'x'"),
        ('{"thought": "", "tool": ["look"], "args": {}}', "reply.tool: expected a string"),
        ('{"thought": "", "tool": "look", "args": {}, "answer": 1}', "unknown key 'answer'"),
        ('{"thought": "", "tool": "pay", "args": {"amount": 1e999}}', "reply.args: expected finite numbers"),
        ('{"thought": "", "tool": "pay", "args": {"amount": NaN}}', "not valid JSON"),
        ('{"thought": "", "tool": "look", "args": {"of": ' + "[" * 100_000, "not valid JSON: maximum recursion depth"),
        ("", "not valid JSON"),
    ],
)
def test_whatever_is_not_exactly_a_call_is_none(text: str, why: str) -> None:
    with pytest.raises(RecordError) as caught:
        JsonActions().moves(reply(text))
    assert why in str(caught.value)


def test_a_tool_that_nobody_has_is_still_a_call_for_the_world_to_answer() -> None:
    assert JsonActions().moves(reply('{"tool": "fly", "args": {}}')) == [Move(None, "fly", {})]


def test_the_schema_admits_the_calls_of_the_listed_tools_and_no_other() -> None:
    schema = JsonActions(thought_limit=9).offer(Request(()), [LOOK, SAY]).schema
    assert schema is not None
    tools = [one["properties"]["tool"]["const"] for one in schema["anyOf"]]
    assert tools == ["look", "say"]
    assert schema["anyOf"][0]["properties"]["args"] == LOOK.parameters
    assert schema["anyOf"][0]["properties"]["thought"]["maxLength"] == 9
    assert JsonActions(constrained=False).offer(Request(()), [LOOK]).schema is None


def test_native_calls_carry_the_words_beside_them_as_the_first_thought() -> None:
    said = native(" First this. ", call("look", '{"at":"x"}', "a"), call("say", "", "b"))
    assert NativeCalls().moves(said) == [Move("First this.", "look", {"at": "x"}, "a"), Move(None, "say", {}, "b")]


def test_words_without_a_native_call_are_an_end_and_nothing_at_all_is_no_reply() -> None:
    assert NativeCalls().moves(native("Done.")) == []
    with pytest.raises(RecordError, match="neither a call nor words"):
        NativeCalls().moves(native("  "))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (call("look", "{"), "not valid JSON"),
        (call("look", "[1]"), "expected a JSON object"),
        (call("look", {"at": "x"}), "expected a name and arguments"),
        (call(None, "{}"), "expected a name and arguments"),
        (call("look", "{}", None), "expected an object with id and function"),
        ("look", "expected an object with id and function"),
    ],
)
def test_a_broken_native_call_is_no_call(broken: object, why: str) -> None:
    with pytest.raises(RecordError) as caught:
        NativeCalls().moves(native("", broken))
    assert why in str(caught.value)


def test_every_call_of_a_refused_native_reply_is_answered() -> None:
    said = native("", call("look", "{", "a"), call("say", "{}", "b"))
    told = NativeCalls().refused(said, "why")
    assert [message["tool_call_id"] for message in told] == ["a", "b"]


def test_a_request_without_tools_keeps_the_cache_key_that_it_had() -> None:
    plain = Request(({"role": "user", "content": "x"},))
    before = {name: getattr(plain, name) for name in plain.__dataclass_fields__ if name != "tools"}
    assert plain.key("m") == hashlib.sha256(canonical({"model": "m", "request": before})).hexdigest()
    offered = [NativeCalls().offer(plain, [tool]).key("m") for tool in (LOOK, SAY)]
    assert len({plain.key("m"), *offered}) == 3
