"""The LLM judge: one view of a trajectory, one prompt, one reply form, any model behind ``Chat``.

Outcome and step judge are this class with another ``view``; prompt, procedure, taxonomy and decoding are the same, so
what differs between their verdicts is what they were shown. The score is the stated confidence turned towards "faulty"
(testbed paper, section 4). What other tools turn into a wrong number is a status here: a reply that the token cap cut
(asked again once with twice the cap, then ``truncated``), a prompt that does not fit (``overflow``), a refusal, and a
reply that is not exactly of the form (``parse_fail``, with the raw reply in ``detail``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

from trajaudit._fields import Json, RecordError
from trajaudit.auditor import spec_hash
from trajaudit.judges import elision, reply, view
from trajaudit.judges.elision import Record, fit
from trajaudit.judges.prompt import Prompt
from trajaudit.judges.reply import Reply, parse_reply, reply_schema
from trajaudit.judges.view import VIEWS
from trajaudit.llm.chat import ApiError, Chat, Completion, ContextOverflow, Request
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

VERSION = 1
OVERFLOW_POLICIES = ("elide", "refuse")
RETRY_FACTOR = 2
"""How much larger the reply cap of the one retry after a cut reply is."""
_TEMPLATE_TOKENS = 32
"""Room for what a chat template puts around two messages."""


@dataclass
class _Spent:
    """What one sample has cost so far; a cut first reply was paid for too."""

    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None

    def add(self, completion: Completion) -> None:
        self.usage += completion.usage
        self.latency_s = (self.latency_s or 0.0) + completion.latency_s


class LLMJudge:
    """A judge that asks a language model once a trajectory.

    Args:
        chat: the model.
        view: ``outcome`` or ``step``.
        procedure: what the agent had to follow, in the dataset's words.
        taxonomy: the fault types that a reply may name.
        prompt: the version of the prompt files.
        max_tokens: cap of the reply; it is taken off the window.
        seed: passed to the endpoint; sample ``i`` of a self-consistency ensemble gets ``seed + i``. Null sends none.
        overflow: what to do with a record that does not fit the window: ``elide`` or ``refuse``.
        reasoning_limit: characters of reasoning at most, as ``reply_schema`` says.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        view: str,
        procedure: str,
        taxonomy: Taxonomy,
        prompt: str = "v1",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int | None = 0,
        overflow: str = "elide",
        reasoning_limit: int | None = None,
    ) -> None:
        _one_of("view", view, VIEWS)
        _one_of("overflow", overflow, OVERFLOW_POLICIES)
        if not procedure.strip():
            raise ValueError("procedure: expected the text that the agent had to follow, got an empty one")
        if max_tokens < 1:
            raise ValueError(f"max_tokens: expected at least 1, got {max_tokens}")
        if not 0 <= temperature <= 2 or not 0 < top_p <= 1:
            name, value = ("temperature", temperature) if not 0 <= temperature <= 2 else ("top_p", top_p)
            raise ValueError(
                f"{name}: expected a number in {'[0, 2]' if name == 'temperature' else '(0, 1]'}, got {value}"
            )
        self.chat, self.view, self.overflow = chat, view, overflow
        self.prompt = Prompt(prompt)
        self.system = self.prompt.system(procedure, taxonomy)
        self.schema = reply_schema(taxonomy, view, reasoning_limit)
        self.decoding = Request((), self.schema, temperature, top_p, max_tokens, seed)
        self.name = f"{view}:{chat.name}"
        self.spec = self._spec()

    @cached_property
    def spec_hash(self) -> str:
        return spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict of one sample."""
        return await self.sample(trajectory)

    async def sample(self, trajectory: Trajectory, repeat: int = 0) -> Verdict:
        """Return the verdict of sample ``repeat``, which has its own seed and its own place in the response cache.

        Raises:
            BudgetExceeded: the run has to stop.
        """
        record = fit(trajectory, self.view, self._record_budget, self.chat.count_tokens)
        if record is None or (record.unseen is not None and self.overflow == "refuse"):
            detail = f"the record does not fit the {self._record_budget} tokens left for it in the window"
            return self._failure("overflow", detail, trajectory, _Spent())
        spent = _Spent()
        try:
            completion = await self._complete(self._request(record, repeat), spent)
        except ApiError as error:
            spent.usage += Usage(error.calls, None, None, None, None)
            return self._failure("api_error", str(error), trajectory, spent, record)
        except ContextOverflow as error:
            if error.completion is not None:
                spent.add(error.completion)
            return self._failure("overflow", str(error), trajectory, spent, record)
        return self._verdict(completion, trajectory, spent, record)

    def _request(self, record: Record, repeat: int) -> Request:
        messages = (
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.prompt.user(record.mark, record.text)},
        )
        seed = None if self.decoding.seed is None else self.decoding.seed + repeat
        return replace(self.decoding, messages=messages, seed=seed, repeat=repeat)

    async def _complete(self, request: Request, spent: _Spent) -> Completion:
        """Return the reply; one that the cap cut is asked for once more, with as much room as the window leaves."""
        completion = await self.chat.complete(request)
        spent.add(completion)
        if completion.finish_reason == "length":
            larger = RETRY_FACTOR * request.max_tokens
            if self.chat.window is not None:
                prompt_tokens = sum(self.chat.count_tokens(message["content"]) for message in request.messages)
                larger = min(larger, self.chat.window - prompt_tokens - _TEMPLATE_TOKENS)
            if larger > request.max_tokens:
                completion = await self.chat.complete(replace(request, max_tokens=larger))
                spent.add(completion)
        return completion

    def _verdict(self, completion: Completion, trajectory: Trajectory, spent: _Spent, record: Record) -> Verdict:
        said = completion.text
        if completion.refusal is not None or completion.finish_reason == "content_filter":
            refusal = completion.refusal or f"stopped by the content filter; reply: {said}"
            return self._failure("refused", refusal, trajectory, spent, record)
        if completion.finish_reason == "length":
            return self._failure("truncated", f"cut by the token cap; reply: {said}", trajectory, spent, record)
        try:
            opinion = parse_reply(said, self.schema, len(trajectory.steps))
        except RecordError as error:
            return self._failure("parse_fail", f"{error}; reply: {said}", trajectory, spent, record)
        return self._opinion(opinion, trajectory, spent, record)

    def _opinion(self, said: Reply, trajectory: Trajectory, spent: _Spent, record: Record) -> Verdict:
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self.spec_hash,
            faulty=said.faulty,
            score=said.confidence if said.faulty else 1 - said.confidence,
            step=said.step,
            types=() if said.type is None else (said.type,),
            confidence=said.confidence,
            evidence=() if said.step is None else (Evidence(said.step),),
            rationale=said.reasoning,
            usage=spent.usage,
            latency_s=spent.latency_s,
            unseen=record.unseen,
        )

    def _failure(
        self, status: str, detail: str, trajectory: Trajectory, spent: _Spent, record: Record | None = None
    ) -> Verdict:
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self.spec_hash,
            status,
            usage=spent.usage,
            latency_s=spent.latency_s,
            detail=detail,
            unseen=None if record is None else record.unseen,
        )

    @cached_property
    def _record_budget(self) -> int | None:
        """Tokens that a record may take: the window less the reply and the words around the record."""
        if self.chat.window is None:
            return None
        around = self.chat.count_tokens(self.system) + self.chat.count_tokens(self.prompt.user("0" * 16, ""))
        return self.chat.window - self.decoding.max_tokens - around - _TEMPLATE_TOKENS

    def _spec(self) -> dict[str, Json]:
        """Return everything that can change a verdict of this judge."""
        return {
            "judge": "llm",
            "version": [VERSION, view.VERSION, elision.VERSION, reply.VERSION],
            "model": self.chat.spec,
            "view": self.view,
            "prompt": {"version": self.prompt.version, "sha256": self.prompt.sha256},
            "system_sha256": hashlib.sha256(self.system.encode()).hexdigest(),
            "schema": self.schema,
            "decoding": {
                "temperature": self.decoding.temperature,
                "top_p": self.decoding.top_p,
                "max_tokens": self.decoding.max_tokens,
                "retry_factor": RETRY_FACTOR,
                "seed": self.decoding.seed,
            },
            "truncation": {"policy": self.overflow, "shortest": elision.SHORTEST, "window": self.chat.window},
        }


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}")
