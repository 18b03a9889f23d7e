"""Two processes that train together learn what one learns, and every run is judged once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("datasets", reason="the detectors need datasets")

import trajaudit
from trajaudit.trajectory import write_jsonl

SCRIPT = """
import json, os, sys
os.environ.update(HF_HUB_OFFLINE="1", WANDB_MODE="disabled")
from pathlib import Path
from trajaudit.detectors.bert_step import bert_step
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.training import Training
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import read_trajectories

tiny, out = sys.argv[1:]
for devices in (2, 1):
    both = {"devices": 2, "strategy": "ddp_fork"} if devices == 2 else {"accumulate": 2}
    settings = Training(epochs=2, held_out=0.25, lr=1e-2, batch_runs=3, loss="plain", clip=None, **both)
    runs = list(read_trajectories("runs.jsonl"))
    detector = bert_step(encoder=Encoder(tiny, 64), training=settings, taxonomy=SUPPORT_DESK,
                         cache=Path(out) / "cache", window=64, dropout=0.0)
    folder = Path(out) / str(devices)
    folder.mkdir(parents=True)
    detector.fit(runs, folder)
    scores = [[verdict.trajectory_id, verdict.score] for verdict in detector.predict(runs)]
    (folder / "scores.json").write_text(json.dumps(scores))
"""


def test_two_processes_give_what_one_gives_and_count_each_run_once(tiny: Path, zebras, tmp_path: Path) -> None:
    """Two processes with a batch each are one process that accumulates two; verdicts are given on one alone."""
    runs = zebras(9)  # 12 runs to train on, in four batches; 6 are held out, and both processes look at all of them
    write_jsonl(tmp_path / "runs.jsonl", runs)
    source = str(Path(trajaudit.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, "-c", SCRIPT, str(tiny), "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    two, one = (json.loads((tmp_path / "out" / n / "scores.json").read_text()) for n in "21")
    assert [id for id, _ in two] == [run.id for run in runs]
    assert [score for _, score in two] == pytest.approx([score for _, score in one], abs=1e-4)
