"""Single steps as rows of their own: what Trajel's step classifier was trained and scored on.

A row is a run of one step. It is faulty where a fault sits at that step, so most rows of a faulty run are clean. Its id
is new, since it is no run of the dataset; its group stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from trajaudit.trajectory import Label, Trajectory


def step_rows(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """Return every step of labelled runs as a row; runs with a fault whose step is unknown are left out."""
    return [row for run in runs if _located(run) for row in _rows(run)]


def _located(run: Trajectory) -> bool:
    if run.label is None:
        return False
    faults = run.label.faults
    return not run.label.faulty or (bool(faults) and all(fault.step is not None for fault in faults))


def _rows(run: Trajectory) -> list[Trajectory]:
    last = len(run.steps) - 1
    rows = []
    for step in run.steps:
        faults = tuple(replace(f, step=0) for f in (run.label.faults if run.label else ()) if f.step == step.index)
        label = Label(bool(faults), faults, origin=run.label.origin if run.label else "construction")
        digest = hashlib.sha256(f"{run.id}/{step.index}".encode()).hexdigest()[:16]
        answer = run.final_answer if step.index == last else None
        rows.append(
            replace(
                run,
                id=f"row-{digest}",
                steps=(replace(step, index=0),),
                final_answer=answer,
                label=label,
                reference=None,
            )
        )
    return rows
