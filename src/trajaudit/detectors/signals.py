"""The execution signals as an auditor: whether a run lacks one of Trajel's five flags, and what that is worth.

Flags are rules over the run (`flags` says which), so a lost one is an observation and no opinion; how likely a fault
is given the lost ones, and of which type, is learnt from labelled runs by two small logistic models. A run is flagged
where any flag is lost, whatever the probability: where most runs are faulty, every run would be flagged otherwise. A
flag says nothing of the step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.detectors.linear import FloatArray, Linear, fit_linear
from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Verdict

VERSION = 1
Flags = Callable[[Trajectory], Mapping[str, bool]]


class Signals:
    """A fitted auditor over execution flags.

    Args:
        flags: gives the five flags of a run, by the names of ``EXECUTION_FLAGS``, true where good.
        strength: the inverse penalty of the logistic models.
    """

    name = "signals"

    def __init__(self, flags: Flags, *, strength: float = 1.0) -> None:
        self.flags, self.strength = flags, strength
        self.fault: Linear | None = None
        self.type: Linear | None = None
        self.spec: dict[str, Json] = {
            "detector": "signals",
            "version": VERSION,
            "flags": f"{flags.__module__}.{flags.__qualname__}",
            "strength": strength,
        }

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Learn what a lost flag is worth; nothing is kept, since fitting again takes no time.

        Raises:
            ValueError: no run is labelled.
        """
        labelled = [(run, run.label) for run in runs if run.label is not None]
        if not labelled:
            raise ValueError(f"{self.name}: expected labelled runs, got none")
        lost = self._lost([run for run, _ in labelled])
        self.fault = fit_linear(lost, [str(label.faulty) for _, label in labelled], self.strength)
        named = [(i, label.first.type) for i, (_, label) in enumerate(labelled) if label.first and lost[i].any()]
        self.type = None
        if named:
            self.type = fit_linear(lost[[i for i, _ in named]], [name for _, name in named], self.strength)

    def _lost(self, runs: Sequence[Trajectory]) -> FloatArray:
        """Return [n, flags], 1 where a flag is lost."""
        rows = [[float(not flags[name]) for name in EXECUTION_FLAGS] for flags in map(self.flags, runs)]
        return np.array(rows, dtype=np.float64).reshape(-1, len(EXECUTION_FLAGS))

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run.

        Raises:
            ValueError: nothing was fitted.
        """
        if self.fault is None:
            raise ValueError(f"{self.name}: expected a fitted model, call fit first")
        return [self._verdict(run, self.fault) for run in runs]

    def _verdict(self, run: Trajectory, fault: Linear) -> Verdict:
        start = time.perf_counter()
        row = self._lost([run])
        lost = [name for name, value in zip(EXECUTION_FLAGS, row[0], strict=True) if value]
        score = float(fault.probabilities(row)[0, fault.classes.index("True")]) if "True" in fault.classes else 0.0
        types = (self.type.classes[int(self.type.probabilities(row)[0].argmax())],) if self.type and lost else ()
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec_hash(self.spec),
            faulty=bool(lost),
            score=score,
            types=types,
            evidence=tuple(Evidence(note=f"not so: {EXECUTION_FLAGS[name]}") for name in lost),
            rationale=f"lost: {', '.join(lost)}" if lost else "no execution flag is lost",
            latency_s=time.perf_counter() - start,
        )
