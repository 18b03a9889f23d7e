"""How many requests may be in flight, and how long to wait before trying one again.

An endpoint that answers 429 is asked less: the number in flight is halved, and grows back by a quarter for each round
of answers, so a run finds the rate that it is allowed instead of failing at the rate it was given. What the endpoint
says in ``Retry-After`` holds back every request, not only the one that was told. Waits without such a word grow
exponentially with full jitter (uniform from zero), which spreads out clients that failed together.
"""

from __future__ import annotations

import asyncio
import email.utils
import random
import time
from collections.abc import Mapping
from types import TracebackType

COOL_S = 1.0
"""One burst of refusals is one sign: after halving, further refusals within this time change nothing."""
GROWTH = 0.25
BACKOFF_S = 0.5
BACKOFF_MAX_S = 30.0


class Gate:
    """An async context manager that lets at most ``allowed`` requests through at once, from 1 to ``limit``."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.allowed = float(limit)
        self.active = 0
        self._changed = asyncio.Condition()
        self._cut_at = self._open_at = float("-inf")

    async def __aenter__(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.active < int(self.allowed))
            self.active += 1
        try:
            while (wait := self._open_at - time.monotonic()) > 0:
                await asyncio.sleep(wait)
        except BaseException:
            await self._leave()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._leave()

    async def _leave(self) -> None:
        async with self._changed:
            self.active -= 1
            self._changed.notify(2)

    def answered(self) -> None:
        """Note an answer: a full round of them lets a quarter more through."""
        self.allowed = min(self.limit, self.allowed + GROWTH)

    def refused(self, wait_s: float) -> None:
        """Note a refusal for too many requests: halve, and let nothing through for ``wait_s`` seconds."""
        now = time.monotonic()
        self._open_at = max(self._open_at, now + wait_s)
        if now - self._cut_at >= COOL_S:
            self._cut_at = now
            self.allowed = max(1.0, self.allowed / 2)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply's headers ask to wait (a number, or an HTTP date), null where they do not.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({"retry-after": "soon"})
    (2.0, 0.25, None)
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def backoff(attempt: int, asked_s: float | None) -> float:
    """Return the seconds to wait after try ``attempt`` (from 0): never less than the endpoint asked for."""
    jitter = random.uniform(0.0, min(BACKOFF_MAX_S, BACKOFF_S * 2**attempt))
    return jitter if asked_s is None else asked_s + min(jitter, BACKOFF_S)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
