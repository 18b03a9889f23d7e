"""How a model says which tool to call: as native tool calls, or as one JSON object a reply.

``json`` works with any model, also one that has no tool calls; where the endpoint constrains decoding, ``constrained``
makes every reply well-formed, which measures what a model does and not whether it can write JSON. Parsing is strict
either way: a reply that is not exactly a call is none, it is told why, and nothing is guessed, since a guessed call
would put words into the agent's mouth that its label then holds against it. A tool that does not exist, or is not this
agent's, *is* a call: the world answers it, and the rules say what it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from trajaudit._fields import Fields, Json, RecordError, dumps, fail, loads
from trajaudit.episode import Tool
from trajaudit.llm.chat import Completion, Request

VERSION = 1
PROTOCOLS = ("json", "native")
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
Message = dict[str, Json]


@dataclass(frozen=True)
class Move:
    """A call that a reply makes; ``call_id`` is the endpoint's name for it, where it has one."""

    thought: str | None
    tool: str
    args: dict[str, Json]
    call_id: str | None = None


class Dialect(Protocol):
    """One way of saying it. ``moves`` is empty where the agent says something instead of calling a tool."""

    name: str

    def describe(self, tools: Sequence[Tool]) -> str: ...
    def offer(self, request: Request, tools: Sequence[Tool]) -> Request: ...
    def moves(self, completion: Completion) -> list[Move]: ...
    def said(self, completion: Completion) -> Message: ...
    def observed(self, move: Move, observation: Json) -> Message: ...
    def refused(self, completion: Completion, why: str) -> list[Message]: ...


class JsonActions:
    """``{"thought": …, "tool": …, "args": {…}}``, one object a reply; a fence around it is taken off."""

    name = "json"

    def __init__(self, constrained: bool = True, thought_limit: int | None = None) -> None:
        self.constrained, self.thought_limit = constrained, thought_limit

    def describe(self, tools: Sequence[Tool]) -> str:
        """Return the tools as the text that the model is shown."""
        lines = [f"- {tool.name}: {tool.description} Arguments: {dumps(tool.parameters)}" for tool in tools]
        return "\n".join(["The tools:", *lines])

    def offer(self, request: Request, tools: Sequence[Tool]) -> Request:
        return replace(request, schema=self._schema(tools)) if self.constrained else request

    def moves(self, completion: Completion) -> list[Move]:
        """Return the call of a reply.

        Raises:
            RecordError: saying in which way the reply is none.
        """
        text = completion.text.strip()
        fenced = _FENCE.match(text)
        fields = Fields(loads(fenced[1] if fenced else text, "reply"), "reply", ("thought", "tool", "args"))
        args = _finite(fields.need("args", dict), "reply.args")
        return [Move(fields.maybe("thought", str) or None, fields.need("tool", str), args)]

    def said(self, completion: Completion) -> Message:
        return {"role": "assistant", "content": completion.text}

    def observed(self, move: Move, observation: Json) -> Message:
        return {"role": "user", "content": f"Observation: {dumps(observation)}"}

    def refused(self, completion: Completion, why: str) -> list[Message]:
        return [{"role": "user", "content": f"Nothing was called. {why}"}]

    def _schema(self, tools: Sequence[Tool]) -> Json:
        thought: Json = {"type": "string"}
        if self.thought_limit is not None:
            thought = {**thought, "maxLength": self.thought_limit}

        def call(tool: Tool) -> Json:
            properties = {"thought": thought, "tool": {"const": tool.name}, "args": tool.parameters}
            return {"type": "object", "properties": properties, "required": list(properties), **_CLOSED}

        return {"anyOf": [call(tool) for tool in tools]}


class NativeCalls:
    """The endpoint's own tool calls; words without a call end the episode, as its users expect."""

    name = "native"

    def describe(self, tools: Sequence[Tool]) -> str:
        return ""

    def offer(self, request: Request, tools: Sequence[Tool]) -> Request:
        return replace(request, tools=tuple(tool.to_json() for tool in tools))

    def moves(self, completion: Completion) -> list[Move]:
        """Return the calls of a reply, in order; the words beside them are the thought of the first.

        Raises:
            RecordError: a call whose arguments are no JSON object, or a reply with neither words nor calls.
        """
        thought = completion.text.strip() or None
        calls = _calls(completion)
        if not calls and thought is None:
            raise RecordError("reply: expected a tool call, got neither a call nor words")
        return [_native(call, thought if i == 0 else None, f"tool_calls[{i}]") for i, call in enumerate(calls)]

    def said(self, completion: Completion) -> Message:
        calls = _calls(completion)
        return {"role": "assistant", "content": completion.text, **({"tool_calls": calls} if calls else {})}

    def observed(self, move: Move, observation: Json) -> Message:
        return {"role": "tool", "tool_call_id": move.call_id, "content": dumps(observation)}

    def refused(self, completion: Completion, why: str) -> list[Message]:
        """Answer every call of a refused reply: endpoints insist on an answer to each."""
        told = f"Nothing was called. {why}"
        calls = [call for call in _calls(completion) if isinstance(call, dict)]
        answers = [{"role": "tool", "tool_call_id": call.get("id"), "content": told} for call in calls]
        return answers or [{"role": "user", "content": told}]


_CLOSED: dict[str, Json] = {"additionalProperties": False}


def _calls(completion: Completion) -> list[Json]:
    """Return the tool calls of a reply as the endpoint wrote them."""
    choices = completion.raw.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices else None
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    return calls if isinstance(calls, list) else []


def _native(call: Json, thought: str | None, where: str) -> Move:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(call.get("id"), str):
        fail(where, "an object with id and function", call)
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, str):
        fail(f"{where}.function", "a name and arguments", function)
    args = loads(arguments or "{}", f"{where}.function.arguments")
    if not isinstance(args, dict):
        fail(f"{where}.function.arguments", "a JSON object", args)
    return Move(thought, name, _finite(args, f"{where}.function.arguments"), call["id"])


def _finite(args: dict[str, Json], where: str) -> dict[str, Json]:
    """Refuse a number that JSON text can hold and no record can (1e999 reads as infinity)."""
    try:
        dumps(args)
    except ValueError:
        raise RecordError(f"{where}: expected finite numbers, got one that is too large") from None
    return args
