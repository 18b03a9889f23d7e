"""How fast the support desk is generated on one core: labelled, replayed runs a second, best of three.

Processor time is what counts, so that another job on the machine does not slow the figure down; wall time is beside
it. The paper preset is the one with a target (15,000 a second).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trajaudit.testbeds.support_desk import generate
from trajaudit.trajectory import write_jsonl

SIZES = {"paper": 8_000, "varied": 3_000}


def _make(preset: str) -> int:
    return sum(1 for _ in generate(preset, SIZES[preset], seed=1))


def _write(preset: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return write_jsonl(Path(folder) / "trajectories.jsonl", generate(preset, SIZES[preset], seed=1))


def _rate(work: Callable[[str], int], preset: str) -> tuple[float, float]:
    """Return the best of three rates, by processor time and by wall time, in trajectories a second."""
    cpu, wall = [], []
    for _ in range(3):
        started = time.process_time(), time.perf_counter()
        count = work(preset)
        cpu.append(count / (time.process_time() - started[0]))
        wall.append(count / (time.perf_counter() - started[1]))
    return round(max(cpu)), round(max(wall))


def run() -> dict[str, float]:
    """Return the rates by name, in trajectories a second."""
    rates: dict[str, float] = {}
    for preset in SIZES:
        for name, work in (("generate", _make), ("generate_and_write", _write)):
            rates[f"{preset}_{name}"], rates[f"{preset}_{name}_wall"] = _rate(work, preset)
    return rates


if __name__ == "__main__":
    result = run()
    if "--json" in sys.argv[1:]:
        print(json.dumps(result))
    else:
        for label, rate in result.items():
            print(f"{label:32} {rate:10,.0f} trajectories/s")
