"""Run benchmarks and print their ratios: ``python -m benchmarks``, or ``python -m benchmarks inference memory length``.

A ratio is between two things measured in this very run (or against an ideal that follows from its sizes), so it means
the same on any machine; the generation rate is the one absolute figure. Without names those run that take a minute
each, each against its goal, and ``outputs/bench.json`` keeps the figures. Those that are named take several minutes and
give a table each, which ``--results FOLDER`` keeps.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

from benchmarks import (
    bench_asset_ops,
    bench_detectors,
    bench_generation,
    bench_inference,
    bench_length,
    bench_memory,
    bench_metrics,
    bench_requests,
)
from trajaudit.reports import render

GENERATION_GOAL = 15_000
OUT = Path("outputs/bench.json")
TABLES = {"inference": bench_inference, "memory": bench_memory, "length": bench_length}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(TABLES)}")
    parser.add_argument("--results", type=Path, help="folder for the tables")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(TABLES):
        parser.error(f"no such benchmark {min(unknown)!r}; known: {', '.join(TABLES)}")
    for name in asked.names:
        _tabled(name, asked.results)
    if not asked.names:
        ratios()


def _tabled(name: str, folder: Path | None) -> None:
    module = TABLES[name]
    table = module.table(module.run())
    print(render(table, "txt"))
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(render(table, "md"))


def ratios() -> None:
    """Run what takes a minute each, print each against its goal, and keep all figures."""
    generation, requests, metrics = bench_generation.run(), bench_requests.run(), bench_metrics.run()
    plant, detectors = bench_asset_ops.run(), bench_detectors.run()
    OUT.parent.mkdir(exist_ok=True)
    figures = {
        "generation": generation,
        "asset_ops": plant,
        "requests": requests,
        "metrics": metrics,
        "detectors": detectors,
        "machine": platform.platform(),
    }
    OUT.write_text(json.dumps(figures, indent=1, allow_nan=False) + "\n")
    rate = generation["paper_generate"]
    print(f"generation   {rate:,.0f} trajectories/s a core, labelled, replayed ({rate / GENERATION_GOAL:.2f} x goal)")
    print(f"             {generation['varied_generate']:,.0f} in the varied preset")
    print("asset_ops    " + ", ".join(f"{rate:,.0f} in the {preset} preset" for preset, rate in plant.items()))
    print(f"requests     1,000 of 200 ms at concurrency 64: {requests['ratio']:.2f} x the ideal (goal 1.3 or less)")
    print(f"             a tenth failing once: {requests['failing_answered']:,} of 1,000 answered")
    print("metrics      " + ", ".join(f"{name} {value}" for name, value in metrics.items()))
    train, inference = detectors["train_ratio"], detectors["inference_ratio"]
    print(
        f"detectors    by length, x padding to the window: train {train:.1f} (goal 3), infer {inference:.1f} (goal 2)"
    )
    print(f"all figures: {OUT}")


if __name__ == "__main__":
    main()
