"""A language model as an agent: the task in, one tool call after another, until it ends or a limit does.

The loop adds nothing to what the model decides: no repaired call, no retry of a step, no hint beyond the procedure. At
temperature 0 with a fixed seed an episode is a function of its seed and the model, and since every reply is in the
response cache, a killed run goes on in the middle of an episode by replaying it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Literal

from jinja2 import Environment, StrictUndefined

from trajaudit._fields import Json, RecordError, dumps
from trajaudit.agents.protocol import VERSION as PROTOCOL_VERSION
from trajaudit.agents.protocol import Dialect, JsonActions, Message, NativeCalls
from trajaudit.auditor import spec_hash
from trajaudit.episode import Ending, Episode, Rollout
from trajaudit.llm.chat import ApiError, Chat, Completion, ContextOverflow, Request
from trajaudit.trajectory import Action, Source, Step, Trajectory
from trajaudit.verdict import Usage

VERSION = 1
_PROMPTS = resources.files("trajaudit.agents") / "prompts"
_TEMPLATE_TOKENS = 16
"""Room for what a chat template puts around one message."""


class Over(Exception):
    """The episode is over: the status that it ends with, and why."""

    def __init__(self, status: str, detail: str | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


@dataclass
class _Course:
    """What has happened in one episode so far."""

    messages: list[Message]
    steps: list[Step] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    failed_parses: int = 0
    failed_in_a_row: int = 0
    said: str | None = None
    brief: str = ""


class LLMAgent:
    """An agent that asks a language model for every step.

    Args:
        chat: the model.
        procedure: what the agent has to follow, in the testbed's words.
        protocol: ``json`` or ``native``; see ``trajaudit.agents.protocol``.
        constrained: with ``json``, decode under a schema that only well-formed calls of listed tools match.
        max_steps: calls that are carried out at most.
        max_failed: replies in a row that are no call, after which the episode ends.
        max_tokens: cap of one reply. thought_limit: characters of a thought at most, under a schema.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        procedure: str,
        protocol: Literal["json", "native"] = "json",
        constrained: bool = True,
        prompt: str = "v1",
        max_steps: int = 20,
        max_failed: int = 3,
        max_tokens: int = 1024,
        thought_limit: int | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int | None = 0,
    ) -> None:
        for key, value in (("max_steps", max_steps), ("max_failed", max_failed)):
            if value < 1:
                raise ValueError(f"{key}: expected at least 1, got {value}")
        if not (_PROMPTS / prompt / "system.md").is_file():
            raise ValueError(f"prompt: unknown version {prompt!r}")
        self.chat, self.max_steps, self.max_failed = chat, max_steps, max_failed
        self.protocol: Dialect = NativeCalls() if protocol == "native" else JsonActions(constrained, thought_limit)
        text = (_PROMPTS / prompt / "system.md").read_text(encoding="utf-8")
        template = Environment(undefined=StrictUndefined, autoescape=False).from_string(text)
        self.system = template.render(procedure=procedure.strip(), json=protocol == "json")
        self.decoding = Request((), None, temperature, top_p, max_tokens, seed)
        self.name = f"llm:{chat.name}"
        self.spec: dict[str, Json] = {
            "agent": "llm",
            "version": [VERSION, PROTOCOL_VERSION],
            "model": chat.spec,
            "protocol": {"name": protocol, "constrained": constrained, "thought_limit": thought_limit},
            "system_sha256": hashlib.sha256(self.system.encode()).hexdigest(),
            "decoding": {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "seed": seed},
            "limits": {"max_steps": max_steps, "max_failed": max_failed},
        }

    @cached_property
    def spec_hash(self) -> str:
        return spec_hash(self.spec)

    async def run(self, episode: Episode, source: Source) -> tuple[Rollout, Ending]:
        """Work on an episode to its end; the trajectory has no label yet.

        Raises:
            StopRun: the run has to stop (a spent budget).
        """
        course = _Course([{"role": "system", "content": self.system}])
        try:
            while not episode.done:
                await self._turn(episode, course)
            over = Over("finished")
        except Over as reached:
            over = reached
        except ApiError as error:
            course.usage += Usage(error.calls, None, None, None, None)
            over = Over("api_error", str(error))
        except ContextOverflow as error:
            over = Over("overflow", str(error))
        ending = episode.ending(course.said)
        return self._rollout(episode, course, over, ending, source), ending

    async def _turn(self, episode: Episode, course: _Course) -> None:
        """Ask for the next call, carry it out, and say what was observed."""
        self._brief(episode, course)
        completion = await self._ask(episode, course)
        course.messages.append(self.protocol.said(completion))
        try:
            if completion.finish_reason == "length":
                raise RecordError(f"reply: it was cut at {self.decoding.max_tokens} tokens")
            moves = self.protocol.moves(completion)
        except RecordError as error:
            self._refuse(completion, str(error), course)
            return
        course.failed_in_a_row = 0
        if not moves:
            course.said = completion.text.strip()
            raise Over("stopped")
        for move in moves:
            if episode.done:
                return
            if len(course.steps) == self.max_steps:
                raise Over("max_steps")
            agent = episode.agent
            observation = episode.call(move.tool, move.args)
            course.steps.append(Step(len(course.steps), move.thought, Action(move.tool, move.args), observation, agent))
            course.messages.append(self.protocol.observed(move, observation))

    def _brief(self, episode: Episode, course: _Course) -> None:
        """Tell the task, and whatever has changed since: who acts now, on what, with which tools."""
        brief = "\n\n".join(filter(None, [episode.brief, self.protocol.describe(episode.tools)]))
        first = len(course.messages) == 1
        if first or brief != course.brief:
            told = "\n\n".join(filter(None, [f"Task: {episode.task}" if first else "", brief]))
            course.messages.append({"role": "user", "content": told})
        course.brief = brief

    async def _ask(self, episode: Episode, course: _Course) -> Completion:
        if len(course.steps) == self.max_steps:
            raise Over("max_steps")
        request = self.protocol.offer(replace(self.decoding, messages=_joined(course.messages)), episode.tools)
        if self.chat.window is not None and (needed := self._needed(request)) > self.chat.window:
            raise Over("overflow", f"{needed} tokens do not fit the window of {self.chat.window}")
        completion = await self.chat.complete(request)
        course.usage += completion.usage
        course.latency_s += completion.latency_s
        if completion.refusal is not None or completion.finish_reason == "content_filter":
            raise Over("refused", completion.refusal or completion.text)
        return completion

    def _needed(self, request: Request) -> int:
        """Return the tokens that a request and its reply may take: words, calls and the tools that are offered."""
        texts = [str(message["content"]) for message in request.messages]
        texts += [dumps(message["tool_calls"]) for message in request.messages if "tool_calls" in message]
        texts += [dumps(tool) for tool in request.tools]
        return sum(self.chat.count_tokens(text) + _TEMPLATE_TOKENS for text in texts) + request.max_tokens

    def _refuse(self, completion: Completion, why: str, course: _Course) -> None:
        course.failed_parses += 1
        course.failed_in_a_row += 1
        if course.failed_in_a_row == self.max_failed:
            raise Over("parse_fail", f"{why}; reply: {completion.text}")
        course.messages += self.protocol.refused(completion, why)

    def _rollout(self, episode: Episode, course: _Course, over: Over, ending: Ending, source: Source) -> Rollout:
        run = None
        if course.steps and over.status != "api_error":
            name = hashlib.sha256(f"{episode.id} {self.spec_hash}".encode()).hexdigest()[:16]
            meta = {**source.meta, "ended": over.status, "failed_parses": course.failed_parses, "agent": self.spec_hash}
            told = replace(source, model=self.chat.name, meta=meta)
            steps = tuple(course.steps)
            run = Trajectory(f"run-{name}", episode.group, episode.task, steps, ending.final_answer, told)
        return Rollout(
            *(episode.id, self.spec_hash, over.status, run, course.failed_parses),
            *(course.usage, round(course.latency_s, 6), over.detail),
        )


def _joined(messages: list[Message]) -> tuple[Message, ...]:
    """Return the messages with neighbouring ones of the user made one: some chat templates insist on taking turns."""
    out: list[Message] = []
    for message in messages:
        if out and message["role"] == out[-1]["role"] == "user":
            out[-1] = {"role": "user", "content": f"{out[-1]['content']}\n\n{message['content']}"}
        else:
            out.append(dict(message))
    return tuple(out)
