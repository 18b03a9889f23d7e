"""The chat completions protocol: a request as a body, a body as a completion, a refusal as the right error.

Which failures are tried again decides what a run loses: a time-out, a full or broken server and a reply that is not a
completion are the endpoint's trouble and pass; any other refusal is about the request and would only repeat.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from trajaudit._fields import Json, RecordError, loads, shown
from trajaudit.llm.chat import ApiError, Completion, ContextOverflow, Request
from trajaudit.llm.gate import retry_after
from trajaudit.llm.prices import Price
from trajaudit.llm.tokens import at_least
from trajaudit.llm.usage import read_usage

STRUCTURED = ("json_schema", "json_object", "none")
OMITTABLE = ("temperature", "top_p", "seed")
_AGAIN = (408, 409, 429)
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|max_model_len|(prompt|input) is too long|too many tokens",
    re.IGNORECASE,
)


class Trouble(Exception):
    """A failure that another try may mend. ``throttled``: too many requests; ``wait_s``: what Retry-After asks."""

    def __init__(self, message: str, throttled: bool = False, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.throttled, self.wait_s = throttled, wait_s


def body_of(request: Request, model: str, structured: str, max_tokens_field: str, omit: Collection[str]) -> Json:
    """Return the JSON body that puts ``request`` to ``model``; fields named in ``omit`` are left out."""
    body: dict[str, Json] = {"model": model, "messages": list(request.messages), max_tokens_field: request.max_tokens}
    sampling = {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed}
    body.update({name: value for name, value in sampling.items() if name not in omit and value is not None})
    if request.schema is not None and structured == "json_schema":
        form = {"name": "reply", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif request.schema is not None and structured == "json_object":
        body["response_format"] = {"type": "json_object"}
    if request.tools:
        body["tools"] = list(request.tools)
    if request.top_logprobs:
        body.update(logprobs=True, top_logprobs=request.top_logprobs)
    return body


def read_reply(text: str, price: Price | None, latency_s: float) -> Completion:
    """Read the body of a 200 reply.

    Raises:
        Trouble, ApiError, ContextOverflow: the body holds an error instead (gateways pass them on with status 200).
        Trouble: it is not a chat completion.
    """
    try:
        raw = loads(text, "reply")
    except RecordError as error:
        raise Trouble(f"{error}; it begins {shown(text[:200], 200)}") from None
    if isinstance(raw, dict) and isinstance(raw.get("error"), dict):
        code = raw["error"].get("code")
        raise refusal(code if isinstance(code, int) and 400 <= code < 600 else 502, {}, text, None)
    try:
        choice = raw["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        content, declined = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Trouble(f"reply: expected a chat completion, got {shown(text, 200)}") from None
    if (
        not isinstance(content, str | None)
        or not isinstance(declined, str | None)
        or not isinstance(reason, str | None)
    ):
        raise Trouble(f"reply: expected text in choices[0].message, got {shown(message, 200)}")
    if reason == "error":
        raise Trouble(f"reply: the endpoint broke off, finish_reason {reason!r}")
    usage = read_usage(raw.get("usage"), price)
    return Completion(content or "", reason or "", usage, latency_s, raw, declined or None, choice.get("logprobs"))


def refusal(status: int, headers: Mapping[str, str], text: str, key_env: str | None) -> Exception:
    """Return the error that a refusal with this status, these headers and this body stands for.

    ``key_env`` is the name of the environment variable that holds the key. The endpoint's own words on a refused key
    are left out, since they repeat part of it.
    """
    error = _error(text)
    said = f"{status}: {error.get('message') or shown(text, 200)}"
    if status == 401:
        remedy = f"the key in {key_env} was refused" if key_env else "a key is needed: name its variable in api_key_env"
        return ApiError(f"401: {remedy}")
    if status in (400, 413, 422) and _TOO_LONG.search(f"{error.get('code')} {error.get('type')} {said}"):
        return ContextOverflow(said)
    spent = error.get("code") == "insufficient_quota"
    if (status in _AGAIN or status >= 500) and not spent:
        return Trouble(said, throttled=status == 429, wait_s=retry_after(headers))
    return ApiError(said)


def check_not_cut(request: Request, completion: Completion, window: int | None) -> None:
    """Refuse a reply to a prompt that the server cut without a word (Ollama does, at its ``num_ctx``).

    The server's own count gives it away: fewer tokens than any tokenizer makes of the text, or a prompt that fills the
    whole window and so leaves no room for the reply that was given.

    Raises:
        ContextOverflow: saying what was counted on either side.
    """
    usage = completion.usage
    if usage.prompt_tokens is None:
        return
    evaluated = usage.prompt_tokens + (usage.cached_tokens or 0)
    sent = sum(at_least(message["content"]) for message in request.messages)
    if evaluated < sent:
        told = f"the server evaluated {evaluated} prompt tokens, at least {sent} were sent"
    elif window is not None and usage.prompt_tokens >= window:
        told = f"the server evaluated {usage.prompt_tokens} prompt tokens, all of its window of {window}"
    else:
        return
    raise ContextOverflow(
        f"{told}: it cut the prompt; set the server's context length to what `window` says", completion
    )


def _error(text: str) -> Mapping[str, Json]:
    """Return the error object of a refusal's body in the dialects of OpenAI, vLLM and FastAPI."""
    try:
        body = loads(text, "error")
    except RecordError:
        return {}
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        return {**error, "message": error.get("message") or error.get("detail")}
    return {"message": error} if isinstance(error, str) else {}
