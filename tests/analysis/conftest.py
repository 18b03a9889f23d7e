"""Small labelled sets and verdicts, as arrays and as records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from trajaudit.analysis import Answers, Items
from trajaudit.trajectory import Fault, Label, Source, Step, Trajectory


def _items(faulty, groups=None, types="wrong_tool", silent=True, step=0, length=6) -> Items:
    """Labels of n trajectories; every other argument is one value for all, or one a trajectory."""
    faulty = np.asarray(faulty, dtype=bool)
    n = len(faulty)
    groups = [f"g{i:06}" for i in range(n)] if groups is None else [str(group) for group in groups]
    gold = np.where(faulty, np.broadcast_to(step, n), -1)
    return Items(
        tuple(f"t{i}" for i in range(n)),
        tuple(groups),
        faulty,
        np.where(faulty, np.where(silent, "silent", "loud"), "clean"),
        np.where(faulty, types, ""),
        gold,
        tuple(frozenset({int(s)} - {-1}) for s in gold),
        np.broadcast_to(length, n),
    )


def _answers(
    flagged, score=np.nan, confidence=np.nan, step=-1, types="", ok=True, cost=0.0, auditor="judge"
) -> Answers:
    """Raw verdicts on n trajectories, statuses ``ok`` or ``parse_fail``."""
    flagged = np.asarray(flagged, dtype=bool)
    n = len(flagged)
    ok = np.broadcast_to(ok, n)
    names = ("calls", "prompt_tokens", "completion_tokens", "seconds", "usd")
    return Answers(
        auditor,
        ok.copy(),
        np.where(ok, "ok", "parse_fail"),
        flagged & ok,
        np.where(ok, score, np.nan),
        np.where(ok, confidence, np.nan),
        np.where(ok, step, -1),
        np.where(ok, types, ""),
        {name: np.broadcast_to(float(cost), n) for name in names},
        np.zeros(n, dtype=bool),
    )


@pytest.fixture
def labelled() -> Callable[..., Items]:
    return _items


@pytest.fixture
def answered() -> Callable[..., Answers]:
    return _answers


@pytest.fixture
def run() -> Callable[..., Trajectory]:
    """A function from an id and what is wrong to a trajectory of six steps."""

    def make(name, *faults, group=None, outcome=True, label=True) -> Trajectory:
        given = Label(bool(faults), tuple(Fault(kind, step) for kind, step in faults), outcome) if label else None
        steps = tuple(Step(i) for i in range(6))
        return Trajectory(name, group or name, "task", steps, "done", Source("test"), given)

    return make


@pytest.fixture
def mixed(labelled, answered) -> tuple[Items, Answers]:
    """240 trajectories in 60 groups of four, three types, and a middling judge with coarse scores."""
    rng = np.random.default_rng(3)
    n = 240
    place = np.arange(n) % 4
    types = np.array(["wrong_tool", "premature_stop", "unsupported_claim"])
    kind = types[(np.arange(n) // 4 + place) % 3]
    items = labelled(place > 0, np.arange(n) // 4, kind, place < 3, rng.integers(0, 6, n))
    score = np.round(np.clip(0.4 + 0.25 * items.faulty + rng.normal(0, 0.25, n), 0, 1), 1)
    flagged = score > 0.5
    named = np.where(rng.random(n) < 0.6, kind, types[rng.integers(0, 3, n)])
    step = np.where(rng.random(n) < 0.5, items.step, rng.integers(0, 6, n))
    judge = answered(
        flagged, score, np.where(flagged, score, 1 - score), np.where(flagged, step, -1), np.where(flagged, named, "")
    )
    return items, judge
