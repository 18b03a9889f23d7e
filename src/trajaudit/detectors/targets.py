"""What a label asks of a detector: of the run, and of each step where the fault's step is known.

A label that names a fault without a step teaches the run's heads and says nothing of its steps; one that names no fault
at all says nothing of its types either. Unknown is not clean: both are masked out of the loss. A fault in the final
answer counts for its step, and for the unit of the final answer where a recipe has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from trajaudit.trajectory import Label


@dataclass
class Targets:
    """Of R runs with at most U units and T fault types, all float32.

    ``run`` is [R, 1 + T]: faulty, then each type. ``units`` is [R, U, 1 + T] likewise. ``run_known`` [R, 1 + T] and
    ``units_known`` [R, U, 1 + T] are 1 where the label says something.
    """

    run: Tensor
    run_known: Tensor
    units: Tensor
    units_known: Tensor


def targets_of(labels: Sequence[Label | None], steps: Sequence[int], units: int, types: Sequence[str]) -> Targets:
    """Return the targets of some runs; a run without a label teaches nothing.

    Args:
        steps: number of steps of each run; unit ``steps[r]`` is that of its final answer.
        units: number of units to pad to.
    """
    runs, heads = len(labels), 1 + len(types)
    out = Targets(*(torch.zeros(shape) for shape in [(runs, heads)] * 2 + [(runs, units, heads)] * 2))
    for row, (label, count) in enumerate(zip(labels, steps, strict=True)):
        if label is not None:
            _fill(out, row, label, count, types)
    return out


def _fill(out: Targets, row: int, label: Label, steps: int, types: Sequence[str]) -> None:
    typed = bool(label.faults) or not label.faulty
    located = typed and all(fault.step is not None for fault in label.faults)
    out.run[row, 0] = float(label.faulty)
    out.run_known[row, 0] = 1.0
    out.run_known[row, 1:] = float(typed)
    out.units_known[row, : steps + 1] = float(located)
    for fault in label.faults:
        heads = [0, 1 + types.index(fault.type)] if fault.type in types else [0]
        out.run[row, heads] = 1.0
        if located and fault.step is not None:
            out.units[row, fault.step, heads] = 1.0
            if fault.component == "final_answer":
                out.units[row, steps, heads] = 1.0
