"""What every fitted auditor has: a way to learn from labelled runs, and then a verdict on any run.

An encoder, a process model and a boosted tree are all fitted on some runs and asked about others, so one loop makes
their out-of-fold verdicts (`trajaudit.detectors.out_of_fold`). Scores may be raw here: calibration and the threshold
come after, from inner folds, and are the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from trajaudit._fields import Json
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict


class Detector(Protocol):
    """An auditor that is fitted.

    ``spec`` holds everything that could change a verdict but the training runs (recipe, weights, seed, version), of
    plain JSON values. A detector whose ``spec`` says so may need no labels, or no training at all; it is fitted all
    the same, on the same runs as the others.
    """

    name: str
    spec: dict[str, Json]

    def fit(self, runs: Sequence[Trajectory], folder: Path) -> None:
        """Learn from ``runs``, forgetting what was learnt before.

        Args:
            folder: where to keep what a killed fit resumes from and what a finished one is loaded from; it exists, is
                this fit's own, and is the same when the same command runs again.

        Raises:
            ValueError: the runs cannot be learnt from (one class only, no label where one is needed).
        """
        ...

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run, in order; a run that cannot be read gets a status, never an exception.

        Step and types say what would be wrong, whether or not the raw score flags the run: who decides it clean in the
        end takes them away.
        """
        ...
