"""Two processes that train together learn what one learns, and every run is judged once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("datasets", reason="the detectors need datasets")

SCRIPT = """
import json, os, sys
os.environ.update(HF_HUB_OFFLINE="1", WANDB_MODE="disabled")
from pathlib import Path
from trajaudit.detectors.bert_step import bert_step
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.training import Training
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import read_trajectories

def main(tiny, runs, out, devices):
    both = {"devices": 2, "strategy": "ddp_spawn"} if devices == "2" else {"accumulate": 2}
    settings = Training(epochs=2, held_out=0.25, lr=1e-2, batch_runs=3, loss="plain", clip=None, **both)
    known = list(read_trajectories(runs))
    detector = bert_step(encoder=Encoder(tiny, 64), training=settings, taxonomy=SUPPORT_DESK,
                         cache=Path(out) / "cache", window=64, dropout=0.0)
    folder = Path(out) / devices
    folder.mkdir(parents=True)
    detector.fit(known, folder)
    verdicts = detector.predict(known)
    (folder / "scores.json").write_text(json.dumps([[v.trajectory_id, v.score] for v in verdicts]))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def test_two_processes_give_what_one_gives_and_count_each_run_once(tiny: Path, zebras, tmp_path: Path) -> None:
    import json

    from trajaudit.trajectory import write_jsonl

    runs = zebras(9)  # 18 runs: the batches of an epoch do not divide by two in every epoch
    write_jsonl(tmp_path / "runs.jsonl", runs)
    (tmp_path / "train.py").write_text(SCRIPT)
    found = {}
    for devices in ("1", "2"):
        command = [sys.executable, "train.py", str(tiny), "runs.jsonl", "out", devices]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, env=env)
        assert done.returncode == 0, done.stderr[-2000:]
        found[devices] = json.loads((tmp_path / "out" / devices / "scores.json").read_text())
    assert [id for id, _ in found["2"]] == [run.id for run in runs]
    assert [score for _, score in found["2"]] == pytest.approx([score for _, score in found["1"]], abs=1e-4)
