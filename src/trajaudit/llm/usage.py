"""What a reply cost, from the usage block of its body.

Endpoints count a prompt whole and then say how much of it was read from a cache or written to one, in fields of three
dialects (OpenAI, OpenRouter, Anthropic); here they become disjoint classes, so that each token is billed once, at its
own rate. What an endpoint does not report is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trajaudit._fields import Json
from trajaudit.llm.prices import Price
from trajaudit.verdict import Usage


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts of one reply. ``prompt`` is the whole prompt, of which the next three are parts.

    ``reasoning`` is the part of ``completion`` that was thought and not shown.
    """

    prompt: int | None = None
    cached: int | None = None
    written: int | None = None
    written_1h: int | None = None
    completion: int | None = None
    reasoning: int | None = None


def read_tokens(usage: Json) -> Tokens:
    """Read the ``usage`` block of a reply; null, absent or malformed counts become null."""
    block = usage if isinstance(usage, Mapping) else {}
    prompt, completion = _part(block, "prompt_tokens_details"), _part(block, "completion_tokens_details")
    by_age = _part(block, "cache_creation")
    return Tokens(
        _count(block, "prompt_tokens"),
        _first(_count(prompt, "cached_tokens"), _count(block, "cache_read_input_tokens")),
        _first(
            _count(by_age, "ephemeral_5m_input_tokens"),
            _count(prompt, "cache_write_tokens"),
            _count(block, "cache_creation_input_tokens"),
        ),
        _count(by_age, "ephemeral_1h_input_tokens"),
        _count(block, "completion_tokens"),
        _count(completion, "reasoning_tokens"),
    )


def cost(tokens: Tokens, price: Price | None) -> float | None:
    """Return US dollars for one reply; null where a class that has tokens has no price, or a count is missing.

    >>> cost(Tokens(prompt=1_000_000, cached=400_000, completion=100_000), Price(2.0, 0.5, output=8.0))
    2.2
    """
    if price is None or tokens.prompt is None or tokens.completion is None:
        return None
    if tokens.cached is None and price.cached_input not in (None, price.input):
        return None
    cached, written, written_1h = tokens.cached or 0, tokens.written or 0, tokens.written_1h or 0
    classes = (
        (tokens.prompt - cached - written - written_1h, price.input),
        (cached, price.cached_input),
        (written, price.cache_write),
        (written_1h, price.cache_write_1h),
        (tokens.completion, price.output),
    )
    total = 0.0
    for count, rate in classes:
        if count < 0 or (count > 0 and rate is None):
            return None
        total += count * (rate or 0.0) / 1e6
    return total


def read_usage(usage: Json, price: Price | None) -> Usage:
    """Return what one reply cost, as the verdict record counts it."""
    tokens = read_tokens(usage)
    return Usage(1, tokens.prompt, tokens.cached, tokens.completion, cost(tokens, price))


def _part(block: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    part = block.get(name)
    return part if isinstance(part, Mapping) else {}


def _count(block: Mapping[str, Json], name: str) -> int | None:
    value = block.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
