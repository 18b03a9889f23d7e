"""What a judge asks of a language model and what it gets back, whichever model answers.

The request carries every field that can change the reply, so its hash is a safe cache key (a key that leaves out the
temperature or the repeat index returns one sample as if it were five).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Protocol

from trajaudit._fields import Json, canonical
from trajaudit.auditor import StopRun
from trajaudit.verdict import Usage


@dataclass(frozen=True)
class Request:
    """One chat completion to make. ``schema`` is a strict JSON schema that the reply must match, or null for free text.

    ``repeat`` tells apart samples of the same request; it never reaches the model. ``tools`` are offered as native tool
    calls, in the endpoint's own form; what is called stands in ``Completion.raw``.
    """

    messages: tuple[dict[str, Json], ...]
    schema: dict[str, Json] | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    seed: int | None = 0
    repeat: int = 0
    top_logprobs: int = 0
    tools: tuple[Json, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens: expected at least 1, got {self.max_tokens}")
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature: expected a number in [0, 2], got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: expected a number in (0, 1], got {self.top_p}")
        if not 0 <= self.top_logprobs <= 20:
            raise ValueError(f"top_logprobs: expected 0 to 20, got {self.top_logprobs}")

    def key(self, model_spec: Json) -> str:
        """SHA-256 of this request as put to the model that ``model_spec`` identifies."""
        body = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "tools" or self.tools}
        return hashlib.sha256(canonical({"model": model_spec, "request": body})).hexdigest()


@dataclass(frozen=True)
class Completion:
    """A reply. ``finish_reason`` is the endpoint's own (``stop``, ``length`` …); ``raw`` is the whole body."""

    text: str
    finish_reason: str
    usage: Usage
    latency_s: float
    raw: dict[str, Json] = field(default_factory=dict)
    refusal: str | None = None
    logprobs: Json = None
    stored: bool = False
    """True where the reply came from the response cache and no request was sent."""


class ApiError(Exception):
    """The endpoint gave no usable answer within the bounded retries. A later run tries again.

    ``calls`` is how often it was asked; what that cost nobody knows.
    """

    def __init__(self, message: str, calls: int = 1) -> None:
        super().__init__(message)
        self.calls = calls


class ContextOverflow(Exception):
    """The endpoint says that the prompt does not fit its context window, or shows that it cut it (``completion``)."""

    def __init__(self, message: str, completion: Completion | None = None) -> None:
        super().__init__(message)
        self.completion = completion


class MissingKey(StopRun, ValueError):
    """The environment variable of the API key is not set: no item of the run can be asked."""


class BudgetExceeded(StopRun):
    """The run's budget of money or tokens is spent; what is stored stays, nothing more is sent."""


class Chat(Protocol):
    """A language model that answers requests.

    ``spec`` identifies the model and whatever of its set-up can change replies; it holds no secret. ``window`` is the
    context length in tokens, null where unknown.
    """

    name: str
    spec: dict[str, Json]
    window: int | None

    async def complete(self, request: Request) -> Completion:
        """Answer one request, from the response cache where it is stored.

        Raises:
            ApiError, ContextOverflow, BudgetExceeded.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in ``text``: exact where the tokenizer is at hand, else an upper estimate."""
        ...

    async def close(self) -> None: ...
