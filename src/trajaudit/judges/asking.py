"""Asking a language model about a trajectory once, whatever the question: what every LLM judge does alike.

A judge says what to ask (system text, user text, reply form) and how to read a reply; this says what becomes of it.
What other tools turn into a wrong number is a status here: a reply that the token cap cut (asked again once with twice
the cap, then ``truncated``), a prompt that does not fit (``overflow``), a refusal, and a reply that is not exactly of
the form (``parse_fail``, with the raw reply in ``detail``). The score is the stated confidence turned towards "faulty"
(testbed paper, section 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

from trajaudit._fields import Json, RecordError
from trajaudit.auditor import spec_hash
from trajaudit.judges import elision, token_uncertainty
from trajaudit.judges.elision import Record, fit
from trajaudit.llm.chat import ApiError, Chat, Completion, ContextOverflow, Request
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

OVERFLOW_POLICIES = ("elide", "refuse")
RETRY_FACTOR = 2
"""How much larger the reply cap of the one retry after a cut reply is."""
_TEMPLATE_TOKENS = 32
"""Room for what a chat template puts around two messages."""


@dataclass(frozen=True)
class Opinion:
    """What a reply says: as a verdict has it, before it is filed."""

    faulty: bool
    confidence: float
    rationale: str
    step: int | None = None
    types: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass
class _Spent:
    """What one sample has cost so far; a cut first reply was paid for too."""

    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None

    def add(self, completion: Completion) -> None:
        self.usage += completion.usage
        self.latency_s = (self.latency_s or 0.0) + completion.latency_s


class Asking(ABC):
    """A judge that asks a language model once a trajectory; a judge of its own sets the texts and reads the reply.

    Args:
        chat: the model.
        view: ``outcome`` or ``step``.
        system: the system message.
        decoding: everything of the request but the messages: schema, sampling, cap of the reply, first seed.
        overflow: what to do with a record that does not fit the window: ``elide`` or ``refuse``.
    """

    name: str
    spec: dict[str, Json]

    def __init__(self, chat: Chat, view: str, system: str, decoding: Request, overflow: str) -> None:
        one_of("overflow", overflow, OVERFLOW_POLICIES)
        self.chat, self.view, self.system, self.overflow = chat, view, system, overflow
        self.decoding = decoding

    @abstractmethod
    def user(self, mark: str, record: str, trajectory: Trajectory) -> str:
        """Return the user message around a fenced record."""

    @abstractmethod
    def read(self, text: str, trajectory: Trajectory) -> Opinion:
        """Read a reply.

        Raises:
            RecordError: it is not exactly of the form.
        """

    def why_not(self, trajectory: Trajectory) -> str | None:
        """Return why this judge cannot be asked about a trajectory, null where it can; the status is ``abstain``."""
        return None

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
        if (reason := self.why_not(trajectory)) is not None:
            return self._failure("abstain", reason, trajectory, _Spent())
        budget = self._record_budget(trajectory)
        record = fit(trajectory, self.view, budget, self.chat.count_tokens)
        if record is None or (record.unseen is not None and self.overflow == "refuse"):
            detail = f"the record does not fit the {budget} tokens left for it in the window"
            return self._failure("overflow", detail, trajectory, _Spent())
        spent = _Spent()
        try:
            completion = await self._complete(self._request(record, trajectory, repeat), spent)
        except ApiError as error:
            spent.usage += Usage(error.calls, None, None, None, None)
            return self._failure("api_error", str(error), trajectory, spent, record)
        except ContextOverflow as error:
            if error.completion is not None:
                spent.add(error.completion)
            return self._failure("overflow", str(error), trajectory, spent, record)
        return self._verdict(completion, trajectory, spent, record)

    def decoding_spec(self) -> dict[str, Json]:
        """Return what of decoding and truncation can change a verdict, as the spec has it.

        Asking for log-probabilities adds to a verdict, so it counts; not asking leaves the spec as it always was.
        """
        asked = self.decoding.top_logprobs
        return {
            "decoding": {
                "temperature": self.decoding.temperature,
                "top_p": self.decoding.top_p,
                "max_tokens": self.decoding.max_tokens,
                "retry_factor": RETRY_FACTOR,
                "seed": self.decoding.seed,
                **({"top_logprobs": asked, "uncertainty": token_uncertainty.VERSION} if asked else {}),
            },
            "truncation": {"policy": self.overflow, "shortest": elision.SHORTEST, "window": self.chat.window},
        }

    def _request(self, record: Record, trajectory: Trajectory, repeat: int) -> Request:
        messages = (
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user(record.mark, record.text, trajectory)},
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
            opinion = self.read(said, trajectory)
        except RecordError as error:
            return self._failure("parse_fail", f"{error}; reply: {said}", trajectory, spent, record)
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self.spec_hash,
            faulty=opinion.faulty,
            score=opinion.confidence if opinion.faulty else 1 - opinion.confidence,
            step=opinion.step,
            types=opinion.types,
            confidence=opinion.confidence,
            evidence=opinion.evidence,
            rationale=opinion.rationale,
            usage=spent.usage,
            latency_s=spent.latency_s,
            unseen=record.unseen,
            uncertainty=token_uncertainty.of_verdict(said, completion.logprobs),
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

    def _record_budget(self, trajectory: Trajectory) -> int | None:
        """Tokens that a record may take: the window less the reply and the words around the record."""
        if self.chat.window is None:
            return None
        around = self.chat.count_tokens(self.system) + self.chat.count_tokens(self.user("0" * 16, "", trajectory))
        return self.chat.window - self.decoding.max_tokens - around - _TEMPLATE_TOKENS


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}")
