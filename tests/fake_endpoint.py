"""A chat completions endpoint on loopback that answers, dawdles and fails as told, and counts what it was asked.

In a test:

    with FakeEndpoint(latency_s=0.2, behave=lambda body, nth: error(429, retry_after=1) if nth == 0 else None) as fake:
        chat = Endpoint(model="fake", base_url=fake.base_url)

``behave(body, nth)`` gets the JSON body of a request and how often the very same body came before; it returns an
``Act``, or null for the default reply, which is computed from the body alone (so it repeats) and fits its JSON schema.

As a process that outlives a killed client: ``python tests/fake_endpoint.py --port 0 --latency 0.2 --fail 0.1``. Its
first line of output is its base URL; ``GET /counts`` returns ``{"total", "peak", "counts": {key: times}}``, where the
key is the hash of the body (``key_of``) and the peak the most requests that were held at once.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass
class Act:
    """What to do with one request: wait, then send ``raw`` (or, where null, nothing, and close the connection)."""

    status: int = 200
    raw: bytes | None = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float | None = None


Behave = Callable[[Body, int], Act | None]


def say(text: str | None, *, finish_reason: str = "stop", usage: Body | None = None, **message: Any) -> Act:
    """A well-formed reply; ``message`` adds fields to it (``refusal``, or content of a wrong type)."""
    said = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    counted = usage if usage is not None else {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    reply = {"id": "fake", "object": "chat.completion", "created": 0, "model": "fake", "choices": [choice]}
    return Act(raw=json.dumps({**reply, "usage": counted}).encode())


def cut(text: str) -> Act:
    """A reply that the token limit broke off."""
    return say(text, finish_reason="length")


def refuse(reason: str) -> Act:
    return say(None, refusal=reason)


def error(status: int, message: str = "as told", *, retry_after: float | str | None = None, **extra: Any) -> Act:
    """A refusal; ``retry_after`` is sent as it is; ``extra`` goes into the error object (``code``, ``type``)."""
    raw = json.dumps({"error": {"message": message, **extra}}).encode()
    return Act(status, raw, {} if retry_after is None else {"retry-after": str(retry_after)})


def too_long() -> Act:
    return error(400, "This model's maximum context length is 10 tokens.", code="context_length_exceeded")


def junk(raw: bytes) -> Act:
    """Status 200 and a body that is no completion."""
    return Act(raw=raw)


def hang(seconds: float = 3600.0) -> Act:
    return Act(raw=None, wait_s=seconds)


def hang_up() -> Act:
    """Close the connection without a word."""
    return Act(raw=None, wait_s=0.0)


def key_of(body: Body) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def default_reply(body: Body) -> Act:
    """A reply drawn from the hash of the body: JSON that fits the request's schema, or a word."""
    draw = random.Random(key_of(body))
    form = body.get("response_format", {})
    text = f"reply {draw.getrandbits(32):08x}"
    if form.get("type") == "json_schema":
        text = json.dumps(fill(form["json_schema"]["schema"], draw))
    prompt = sum(len(message["content"]) for message in body["messages"]) // 2 + 1
    done = len(text) // 4 + 1
    usage = {"prompt_tokens": prompt, "completion_tokens": done, "total_tokens": prompt + done}
    return say(text, usage={**usage, "prompt_tokens_details": {"cached_tokens": 0}})


def fill(schema: Body, draw: random.Random) -> Any:
    """Return a value that fits a JSON schema (objects, lists, constants, enums, strings, numbers, booleans, null)."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return fill(draw.choice(schema["anyOf"]), draw)
    kinds = schema["type"]
    kind = draw.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        return {name: fill(part, draw) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill(schema["items"], draw) for _ in range(schema.get("minItems", 1))]
    low, high = schema.get("minimum", 0), schema.get("maximum", 1)
    values = {
        "boolean": draw.random() < 0.5,
        "integer": draw.randint(int(low), int(high)) if high >= low else low,
        "number": round(draw.uniform(low, high), 3),
        "null": None,
    }
    return values[kind] if kind in values else f"because {draw.getrandbits(32):08x}"


def fail_first(share: float, statuses: tuple[int, ...] = (500, 429), retry_after: float | None = None) -> Behave:
    """Fail that share of the distinct requests once each, in turn with the statuses; which ones, their hash says."""

    def behave(body: Body, nth: int) -> Act | None:
        draw = random.Random("fail" + key_of(body))
        if nth > 0 or draw.random() >= share:
            return None
        status = draw.choice(statuses)
        return error(status, retry_after=retry_after if status == 429 else None)

    return behave


class FakeEndpoint:
    """The server, in a thread of its own; a context manager. ``bodies`` holds every request body in order."""

    def __init__(self, behave: Behave | None = None, latency_s: float = 0.0, port: int = 0) -> None:
        self.behave, self.latency_s, self.port = behave, latency_s, port
        self.counts: Counter[str] = Counter()
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.held = self.peak = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def __enter__(self) -> FakeEndpoint:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def serve(self) -> None:
        """Serve until stopped; in a process of its own, for ever."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *rest = head.decode().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if not await self._answer(first.split(" ")[1], headers, body, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; false where the connection is to be closed."""
        act = Act(raw=json.dumps({"total": self.total, "peak": self.peak, "counts": self.counts}).encode(), wait_s=0.0)
        if not path.endswith("/counts"):
            body = json.loads(raw)
            nth = self.counts[key_of(body)]
            self.counts[key_of(body)] += 1
            self.bodies.append(body)
            self.headers.append(headers)
            act = (self.behave and self.behave(body, nth)) or default_reply(body)
        await self._hold(self.latency_s if act.wait_s is None else act.wait_s)
        if act.raw is None:
            return False
        head = {"content-type": "application/json", "content-length": str(len(act.raw)), **act.headers}
        lines = [f"HTTP/1.1 {act.status} As told", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + act.raw)
        await writer.drain()
        return True

    async def _hold(self, seconds: float) -> None:
        self.held += 1
        self.peak = max(self.peak, self.held)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.held -= 1


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted chat completions endpoint on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--fail", type=float, default=0.0, help="share of the distinct requests that fail once")
    parser.add_argument("--status", type=int, nargs="+", default=[500, 429], help="the statuses they fail with")
    parser.add_argument("--retry-after", type=float, help="seconds that a 429 asks to wait")
    options = parser.parse_args()
    behave = fail_first(options.fail, tuple(options.status), options.retry_after) if options.fail else None
    with FakeEndpoint(behave, options.latency, options.port) as fake:
        print(fake.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
