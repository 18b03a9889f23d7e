"""Any OpenAI-compatible endpoint as a language model: bounded concurrency, bounded retries, a budget, no secrets.

The official client carries the requests; its own retries are off, because ours must share one gate (a client that
retries each request by itself answers a full server with more load) and must stop at the budget.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from trajaudit._fields import Json, nearest
from trajaudit.llm.budget import Budget
from trajaudit.llm.chat import ApiError, Completion, MissingKey, Request
from trajaudit.llm.gate import Gate, backoff
from trajaudit.llm.prices import Price, listed_price, own_price
from trajaudit.llm.tokens import at_most
from trajaudit.llm.wire import OMITTABLE, STRUCTURED, Trouble, body_of, check_not_cut, read_reply, refusal

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_WAIT_S = 120.0
"""A Retry-After above this ends the tries: a later run does better than a process that sleeps."""
_KEY_LIKE = re.compile("key|token|secret|sig", re.IGNORECASE)
_SECRET_FIELD = re.compile("api.?key|secret|password|authorization|access.?token", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{1,63}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(repr=False)
class _Session:
    """What belongs to one event loop: the client with its connections, the gate, and the key to keep out of texts."""

    client: AsyncOpenAI
    gate: Gate
    key: str | None
    loop: asyncio.AbstractEventLoop

    def scrub(self, text: str) -> str:
        return text.replace(self.key, "[API key]") if self.key and len(self.key) >= 8 else text


class Endpoint:
    """A ``Chat`` over HTTP.

    Args:
        model: the model's name at the endpoint.
        base_url: up to and including ``/v1``.
        api_key_env: the name of the environment variable that holds the key; null where none is needed.
        concurrency: requests in flight at the most; less after the endpoint says 429.
        timeout_s: for one try, from sending to the last byte.
        retries: further tries after the first, for what may pass (408, 409, 429, 5xx, time-outs, broken connections).
        window: context length in tokens; null where unknown, and then no prompt is measured against it.
        structured: what the endpoint can constrain decoding by.
        max_tokens_field: OpenAI's reasoning models know only ``max_completion_tokens``.
        omit: sampling fields that the endpoint refuses (reasoning models: temperature, top_p).
        extra_body: further fields of the body, sent as they are and part of the spec.
        price: US dollars for one million tokens of each class (see ``prices``), in place of the listed ones.
        budget: shared by the models of a run.

    Raises:
        ValueError: a value out of range, or a budget in money for a model whose price is unknown.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key_env: str | None = None,
        concurrency: int = 8,
        timeout_s: float = 120.0,
        retries: int = 5,
        window: int | None = None,
        structured: str = "json_schema",
        max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        omit: Sequence[str] = (),
        extra_body: Mapping[str, Json] | None = None,
        price: Mapping[str, float | None] | Price | None = None,
        budget: Budget | None = None,
        name: str | None = None,
    ) -> None:
        for key, value, least in (("concurrency", concurrency, 1), ("retries", retries, 0), ("window", window, 1)):
            if value is not None and value < least:
                raise ValueError(f"{key}: expected {least} or more, got {value!r}")
        if not timeout_s > 0:
            raise ValueError(f"timeout_s: expected more than 0 seconds, got {timeout_s!r}")
        _check_no_secret(base_url, api_key_env, extra_body or {})
        _check_known("structured", (structured,), STRUCTURED)
        _check_known("omit", omit, OMITTABLE)
        self.name, self.model, self.window = name or model, model, window
        self.concurrency, self.timeout_s, self.retries = concurrency, timeout_s, retries
        self.base_url, self.api_key_env = base_url, api_key_env
        self.structured, self.max_tokens_field = structured, max_tokens_field
        self.omit, self.extra_body = tuple(omit), dict(extra_body or {})
        self.price = own_price(price) if isinstance(price, Mapping) else price or listed_price(model, base_url)
        self.budget = budget or Budget()
        self.budget.require_price(self.price is not None, model)
        self.spec: dict[str, Json] = {
            "kind": "endpoint",
            "model": model,
            "base_url": _without_secrets(base_url),
            "window": window,
            "structured": structured,
            "max_tokens_field": max_tokens_field,
            "omit": sorted(self.omit),
            "extra_body": self.extra_body,
        }
        self._session: _Session | None = None

    def count_tokens(self, text: str) -> int:
        return at_most(text)

    async def complete(self, request: Request) -> Completion:
        """Answer one request over HTTP.

        Raises:
            ApiError: refused, or no answer within the tries; the message holds the endpoint's last word.
            ContextOverflow: the endpoint says so, or its token count shows that it cut the prompt.
            BudgetExceeded: before anything is sent.
            MissingKey: the environment variable of the key is not set.
        """
        session = self._here()
        for attempt in range(self.retries + 1):
            try:
                async with session.gate:
                    self.budget.check()
                    return await self._try(session, request)
            except Trouble as trouble:
                last, wait_s, throttled = session.scrub(str(trouble)), trouble.wait_s, trouble.throttled
            if wait_s is not None and wait_s > MAX_WAIT_S:
                raise ApiError(f"{self.name}: asked to wait {wait_s:.0f} s: {last}", attempt + 1)
            if throttled:
                session.gate.refused(wait_s or 0.0)
            if attempt < self.retries:
                await asyncio.sleep(backoff(attempt, wait_s))
        raise ApiError(f"{self.name}: no answer in {self.retries + 1} tries: {last}", self.retries + 1)

    async def close(self) -> None:
        """Drop the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None and session.loop is asyncio.get_running_loop():
            await session.client.close()

    def _here(self) -> _Session:
        """Return the session of the running event loop; one of a loop that has ended cannot be used again."""
        if self._session is None or self._session.loop is not asyncio.get_running_loop():
            self._session = self._open()
        return self._session

    async def _try(self, session: _Session, request: Request) -> Completion:
        began = time.monotonic()
        text = await self._post(session, request)
        completion = read_reply(session.scrub(text), self.price, round(time.monotonic() - began, 6))
        session.gate.answered()
        self.budget.spend(completion.usage)
        check_not_cut(request, completion, self.window)
        return completion

    async def _post(self, session: _Session, request: Request) -> str:
        """Send one request and return the body of a 200 reply."""
        from openai import APIConnectionError, APIStatusError

        body = body_of(request, self.model, self.structured, self.max_tokens_field, self.omit) | self.extra_body
        try:
            async with asyncio.timeout(self.timeout_s):
                # The body as text: it is kept whole, and what is not JSON is a trouble of the endpoint, not a crash.
                return await session.client.post("/chat/completions", body=body, cast_to=str)
        except TimeoutError:
            raise Trouble(f"no answer within {self.timeout_s:g} s") from None
        except APIConnectionError as error:
            raise Trouble(f"no connection to {_without_secrets(self.base_url)}: {error.__cause__ or error}") from None
        except APIStatusError as error:
            reply = error.response
        # Raised inside the handler, it would carry the client's own exception and with that the unscrubbed text.
        raise refusal(reply.status_code, reply.headers, session.scrub(reply.text), self.api_key_env)

    def _open(self) -> _Session:
        import openai

        key = os.environ.get(self.api_key_env, "").strip() if self.api_key_env else None
        if self.api_key_env and not key:
            raise MissingKey(
                f"{self.name}: the environment variable {self.api_key_env} is not set; it holds the API key"
            )
        # A proxy from the environment must not stand between this process and a server on the same machine.
        local = urlsplit(self.base_url).hostname in _LOOPBACK
        client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self.base_url,
            max_retries=0,
            timeout=None,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if local else None,
        )
        return _Session(client, Gate(self.concurrency), key, asyncio.get_running_loop())


def _check_known(name: str, given: Sequence[str], valid: Sequence[str]) -> None:
    for choice in given:
        if choice not in valid:
            raise ValueError(f"{name}: unknown {choice!r}{nearest(choice, valid)}; known: {', '.join(valid)}")


def _check_no_secret(base_url: str, api_key_env: str | None, extra_body: Mapping[str, Json]) -> None:
    """Refuse settings that hold a key themselves; what is refused is not repeated, since it would be written down."""
    if api_key_env is not None and not _VARIABLE.fullmatch(api_key_env):
        raise ValueError("api_key_env: expected the NAME of the environment variable that holds the key, not the key")
    parts = urlsplit(base_url)
    if parts.username or parts.password or _KEY_LIKE.search(parts.query):
        raise ValueError("base_url: expected an address without user, password or key; put the key into a variable")
    if any(_SECRET_FIELD.search(name) for name in extra_body):
        raise ValueError("extra_body: expected no key in it; name the variable that holds the key in api_key_env")


def _without_secrets(url: str) -> str:
    """Return a URL without user, password, query and fragment, any of which may hold a key."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"
