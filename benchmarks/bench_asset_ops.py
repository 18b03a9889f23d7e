"""How fast the industrial plant is generated on one core: labelled, replayed runs a second, best of three.

Processor time is what counts, as in ``bench_generation``. A run here has about ten steps, each with a sensor history or
a file behind it, and is told in claims that are read back: it costs a multiple of a run of the support desk.
"""

from __future__ import annotations

import time

from trajaudit.testbeds.asset_ops import generate

SIZES = {"single": 1_400, "varied": 1_400, "mixture": 950}


def run() -> dict[str, float]:
    """Return the rates by preset, in trajectories a second of processor time."""
    rates: dict[str, float] = {}
    for preset, n in SIZES.items():
        best = 0.0
        for attempt in range(3):
            started = time.process_time()
            count = sum(1 for _ in generate(preset, n, seed=attempt))
            best = max(best, count / (time.process_time() - started))
        rates[preset] = round(best)
    return rates


if __name__ == "__main__":
    for label, rate in run().items():
        print(f"{label:10} {rate:8,.0f} trajectories/s")
