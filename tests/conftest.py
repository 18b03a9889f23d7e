"""Fixtures that several rooms share: small hand-made records, and the published data where it lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).parents[1]


def make_run(id: str = "t1", group: str = "g1", label: Label | None = None, steps: int = 3) -> Trajectory:
    """A small run of a support agent, with as many steps as asked."""
    turns = tuple(Step(i, f"thought {i}", Action("lookup", {"n": i}), {"ok": True, "n": i}) for i in range(steps))
    return Trajectory(id, group, "Refund order 1.", turns, "Done.", Source("example"), label)


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
