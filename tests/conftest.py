"""Fixtures that several rooms share: small hand-made records, and the published data where it lies."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_runs import make_run
from zoo import tiny_bert, zebra_runs

from trajaudit.trajectory import Fault, Label, Trajectory

ROOT = Path(__file__).parents[1]
os.environ |= {"WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1"}


@pytest.fixture
def run() -> Trajectory:
    return make_run(label=Label(True, (Fault("wrong_tool", 1, "action"),), outcome_correct=True))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of published data; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("TRAJAUDIT_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "trajectory_judge" / "verdicts.jsonl").is_file():
        pytest.skip(f"published data is not in {folder} (set TRAJAUDIT_DATA)")
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random BERT; tests that need it skip where torch or transformers is absent."""
    return tiny_bert(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def zebras() -> Callable[[int], list[Trajectory]]:
    """Runs with an obvious fault, two to a group."""
    return zebra_runs
