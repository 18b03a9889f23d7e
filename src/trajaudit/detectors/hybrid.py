"""The hybrid: the verdicts of several auditors stacked by a small calibrated model with three heads.

One head says whether the run is faulty, one which type, one which step. All are logistic, on features of verdicts alone
(`hybrid_features`), and small enough to be read. Everything that depends on labels is decided on training runs before
any test run is seen: the verdicts of fitted parts must be out of fold there (a process model raises no alarm on runs
that it was mined from; `stacked` sees to it), the score is calibrated on inner grouped folds (`linear.platt`), and the
threshold is the lowest one at which those inner folds stay within the stated false-alarm budget, from one half up.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from trajaudit._fields import Json, dumps, loads
from trajaudit.auditor import spec_hash
from trajaudit.detectors.hybrid_features import Columns, FloatArray
from trajaudit.detectors.linear import Linear, fit_linear, platt
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Usage, Verdict

VERSION = 1
MODEL = "hybrid.json"
NONE = "none"
Parts = Mapping[str, Sequence[Verdict]]


class Hybrid:
    """A stacked auditor.

    Args:
        parts: the names of the auditors that are stacked.
        types: the fault types that it may name.
        budget: the share of clean runs that may be flagged, on inner folds.
        strength: the inverse penalty of its logistic heads.
        folds: inner folds, by group.
    """

    def __init__(
        self,
        parts: Sequence[str],
        types: Sequence[str],
        *,
        budget: float = 0.01,
        strength: float = 1.0,
        folds: int = 5,
        seed: int = 0,
        name: str = "hybrid",
    ) -> None:
        if not 0 <= budget < 1:
            raise ValueError(f"budget: expected a share in [0, 1), got {budget}")
        self.name, self.budget, self.strength, self.folds, self.seed = name, budget, strength, folds, seed
        self.columns = Columns(parts, types)
        self.heads: dict[str, Linear] = {}
        self.alarms: dict[str, float] = {}
        self.calibration, self.threshold = (1.0, 0.0), 0.5
        self.spec: dict[str, Json] = {
            "detector": "hybrid",
            "version": VERSION,
            "parts": list(self.columns.parts),
            "types": list(self.columns.types),
            "budget": budget,
            "strength": strength,
            "folds": folds,
            "seed": seed,
        }

    def fit(self, runs: Sequence[Trajectory], verdicts: Parts, folder: Path | None = None) -> None:
        """Fit, calibrate and set the threshold on labelled runs and the parts' out-of-fold verdicts on them.

        Raises:
            ValueError: a run has no label, the runs are of one class, or the verdicts do not match.
        """
        labels = [run.label for run in runs]
        faulty = np.array([label is not None and label.faulty for label in labels])
        if None in labels or len(set(faulty.tolist())) < 2:
            raise ValueError("hybrid: expected labelled runs, clean and faulty ones")
        self.alarms = self.columns.alarms(verdicts, faulty)
        rows = self.columns.runs(verdicts, self.alarms)
        of_faults = rows[:, self.columns.of_faults]
        out_of_fold = self._inner(of_faults, faulty, [run.group for run in runs])
        self.calibration = platt(out_of_fold, faulty)
        self.threshold = self._threshold(self._calibrated(out_of_fold)[~faulty])
        self.heads = {
            "fault": fit_linear(of_faults, [str(flag) for flag in faulty], self.strength),
            "type": self._fit_types(runs, rows),
            "step": self._fit_steps(runs, verdicts),
        }
        if folder is not None:
            (folder / MODEL).write_text(dumps(self.to_json()) + "\n", encoding="utf-8")

    def _inner(self, rows: FloatArray, faulty: np.ndarray, groups: list[str]) -> FloatArray:
        """Return [n] logits, each from a head that saw nothing of the run's group."""
        out = np.zeros(len(rows))
        splitter = StratifiedGroupKFold(self.folds, shuffle=True, random_state=self.seed)
        for train, test in splitter.split(rows, faulty, groups):
            head = fit_linear(rows[train], [str(flag) for flag in faulty[train]], self.strength)
            out[test] = head.logits(rows[test])[:, 0]
        return out

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        slope, intercept = self.calibration
        return np.asarray(1 / (1 + np.exp(-(slope * logits + intercept))))

    def _threshold(self, clean: FloatArray) -> float:
        """Return the lowest score, from one half, that at most a share ``budget`` of the clean runs reaches."""
        ordered = np.sort(clean)[::-1]
        first_out = ordered[min(int(self.budget * len(ordered)), len(ordered) - 1)]
        return 0.5 if first_out < 0.5 else float(np.nextafter(first_out, 1))

    def _fit_types(self, runs: Sequence[Trajectory], rows: FloatArray) -> Linear:
        named = [(i, run.label.first.type) for i, run in enumerate(runs) if run.label is not None and run.label.first]
        if not named:
            return Linear((NONE,), np.zeros((1, rows.shape[1])), np.zeros(1))
        return fit_linear(rows[[i for i, _ in named]], [name for _, name in named], self.strength)

    def _fit_steps(self, runs: Sequence[Trajectory], verdicts: Parts) -> Linear:
        blocks, gold = [], []
        for run, block in zip(runs, self.columns.steps(verdicts, [len(run.steps) for run in runs]), strict=True):
            first = run.label.first if run.label is not None else None
            if first is not None and first.step is not None:
                blocks.append(block)
                gold += [str(step == first.step) for step in range(len(run.steps))]
        if not blocks:
            return Linear((NONE,), np.zeros((1, len(self.columns.of_steps))), np.zeros(1))
        return fit_linear(np.concatenate(blocks), gold, self.strength)

    def predict(self, runs: Sequence[Trajectory], verdicts: Parts, *, decided: bool = True) -> list[Verdict]:
        """Return one verdict a run, from the parts' verdicts on the same runs in the same order.

        Args:
            decided: take step and type from runs that are not flagged; false leaves that to who decides in the end.

        Raises:
            ValueError: nothing was fitted or loaded, or the verdicts do not match.
        """
        if not self.heads:
            raise ValueError("hybrid: expected a fitted model, call fit or load first")
        start = time.perf_counter()
        rows = self.columns.runs(verdicts, self.alarms)
        scores = self._calibrated(self.heads["fault"].logits(rows[:, self.columns.of_faults])[:, 0])
        kinds = self.heads["type"].probabilities(rows)
        blocks = self.columns.steps(verdicts, [len(run.steps) for run in runs])
        places = [self.heads["step"].probabilities(block)[:, -1] for block in blocks]
        each = (time.perf_counter() - start) / max(1, len(runs))
        spec = spec_hash(self.spec | {"model": self.to_json()})
        own = [[verdicts[part][i] for part in self.columns.parts] for i in range(len(runs))]
        return [
            self._verdict(run, spec, float(score), kind, place, said, each, decided)
            for run, score, kind, place, said in zip(runs, scores, kinds, places, own, strict=True)
        ]

    def _verdict(
        self,
        run: Trajectory,
        spec: str,
        score: float,
        kind: FloatArray,
        place: FloatArray,
        said: Sequence[Verdict],
        seconds: float,
        decided: bool,
    ) -> Verdict:
        faulty = score >= self.threshold
        named = faulty or not decided
        name = self.heads["type"].classes[int(kind.argmax())]
        spent = [verdict.latency_s for verdict in said]
        known = [second for second in spent if second is not None]
        flagging = [verdict for verdict in said if verdict.ok and verdict.faulty]
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec,
            faulty=faulty,
            score=score,
            step=int(place.argmax()) if named else None,
            step_scores=tuple(float(score * p) for p in place),
            types=(name,) if named and name != NONE else (),
            confidence=max(0.5, score if faulty else 1 - score),
            evidence=tuple(piece for verdict in flagging for piece in verdict.evidence),
            rationale="; ".join(f"{v.auditor}: {v.rationale}" for v in flagging) or "no part flags the run",
            usage=sum((verdict.usage for verdict in said), Usage()),
            latency_s=sum(known) + seconds if len(known) == len(spent) else None,
        )

    def to_json(self) -> Json:
        """Return everything that was fitted, as plain numbers."""
        heads = {name: head.to_json() for name, head in self.heads.items()}
        columns = {"runs": list(self.columns.of_runs), "steps": list(self.columns.of_steps)}
        return {
            "spec": self.spec,
            "columns": columns,
            "calibration": list(self.calibration),
            "threshold": self.threshold,
            "alarms": self.alarms,
            "heads": heads,
        }

    @classmethod
    def load(cls, path: Path) -> Hybrid:
        """Return a hybrid as it was kept by `fit`."""
        obj = loads(path.read_bytes(), str(path))
        spec = obj["spec"]
        made = cls(spec["parts"], spec["types"], **{k: spec[k] for k in ("budget", "strength", "folds", "seed")})
        slope, intercept = obj["calibration"]
        made.calibration, made.threshold = (slope, intercept), obj["threshold"]
        made.alarms = obj["alarms"]
        made.heads = {name: Linear.from_json(head) for name, head in obj["heads"].items()}
        return made
