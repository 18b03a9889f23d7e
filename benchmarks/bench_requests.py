"""A thousand requests of 200 ms at concurrency 64, against the ideal of ceil(1000 / 64) rounds; and with failures.

The fake endpoint runs as a process of its own, so that it does not share an interpreter with the client. The second
figure has one request in ten fail once (500 or 429): what counts there is that no answer is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trajaudit.llm.cache import Cached
from trajaudit.llm.chat import Request
from trajaudit.llm.endpoint import Endpoint

REQUESTS, LATENCY_S, CONCURRENCY = 1000, 0.2, 64
LIMIT = 1.3
FAKE = Path(__file__).resolve().parent.parent / "tests" / "fake_endpoint.py"


def run() -> dict[str, float]:
    """Return the seconds taken, their ratio to the ideal, and answers received with and without failures."""
    ideal = math.ceil(REQUESTS / CONCURRENCY) * LATENCY_S
    clean_s, clean = _measure([])
    failing_s, failing = _measure(["--fail", "0.1"])
    return {
        "requests": REQUESTS,
        "concurrency": CONCURRENCY,
        "ideal_s": round(ideal, 3),
        "clean_s": round(clean_s, 3),
        "ratio": round(clean_s / ideal, 3),
        "limit": LIMIT,
        "answered": clean,
        "failing_s": round(failing_s, 3),
        "failing_answered": failing,
    }


def _measure(options: list[str]) -> tuple[float, int]:
    command = [sys.executable, str(FAKE), "--latency", str(LATENCY_S), *options]
    fake = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert fake.stdout is not None
        base_url = fake.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(_ask_all(base_url, Path(folder) / "calls.jsonl"))
    finally:
        fake.kill()
        fake.communicate()


async def _ask_all(base_url: str, calls: Path) -> tuple[float, int]:
    endpoint = Endpoint(model="fake", base_url=base_url, concurrency=CONCURRENCY)
    chat = Cached(endpoint, calls)
    await chat.complete(_request(-1))  # loads the client library, which is no part of the rate
    began = time.perf_counter()
    replies = await asyncio.gather(*(chat.complete(_request(n)) for n in range(REQUESTS)))
    taken = time.perf_counter() - began
    await chat.close()
    return taken, len({reply.text for reply in replies})


def _request(n: int) -> Request:
    content = f"Request {n}: is step 3 of this trajectory faulty? " + "The agent looked up the order. " * 40
    return Request(({"role": "user", "content": content},))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    figures = run()
    if parser.parse_args().json:
        print(json.dumps(figures))
        return
    print("\n".join(f"{name:>18}  {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
