"""Process conformance as an auditor: fitted on clean runs, it needs no label of any fault.

Its scores are set by what it knows, not measured on faults, of which it sees none: a run with a deviation scores
1 - 1 / (n + 2), the probability (Laplace) that a relation which held in all n training runs is broken by a clean one,
and a run without any scores ``silent``, an admission that it sees nothing of answers and thoughts. A deviation's kind
gives its fault type by ``TYPES``; a taxonomy that is not listed there gets no types.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from trajaudit._fields import Json, dumps, loads
from trajaudit.auditor import spec_hash
from trajaudit.detectors.conformance_log import event_log
from trajaudit.detectors.conformance_mining import SUPPORT, TOLERATED, mine
from trajaudit.detectors.conformance_model import ProcessModel
from trajaudit.detectors.conformance_replay import Deviation, deviations
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Verdict

VERSION = 1
MODEL = "process_model.json"

TYPES: dict[str, dict[str, str]] = {
    "support_desk": {
        "skipped": "skipped_precondition",
        "instead": "wrong_tool",
        "repeated": "wrong_tool",
        "unknown_tool": "wrong_tool",
        "ungrounded": "hallucinated_argument",
        "drawn_elsewhere": "ignored_observation",
        "against": "ignored_observation",
        "unfinished": "premature_stop",
    },
    "trajel": {
        "skipped": "procedural",
        "instead": "procedural",
        "repeated": "procedural",
        "unknown_tool": "scope",
        "ungrounded": "referential",
        "drawn_elsewhere": "factual",
        "against": "logical",
        "unfinished": "procedural",
    },
}
"""For each taxonomy, the fault type that a kind of deviation stands for."""


class Conformance:
    """An auditor that flags a run which departs from what clean runs have in common.

    Args:
        taxonomy: the name of the taxonomy whose types deviations are named by.
        silent: the score of a run without a deviation, in [0, 0.5).

    Raises:
        ValueError: ``silent`` is out of range.
    """

    name = "conformance"

    def __init__(self, taxonomy: str = "support_desk", *, silent: float = 0.2) -> None:
        if not 0 <= silent < 0.5:
            raise ValueError(f"silent: expected a score in [0, 0.5), got {silent}")
        self.types, self.silent = TYPES.get(taxonomy, {}), silent
        self.model: ProcessModel | None = None
        self.spec: dict[str, Json] = {
            "detector": "conformance",
            "version": VERSION,
            "taxonomy": taxonomy,
            "silent": silent,
            "support": SUPPORT,
            "tolerated": TOLERATED,
        }

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Mine the clean ones among ``runs``; a run without a label is taken to be clean.

        Args:
            folder: where the model is kept as JSON; nowhere where null.

        Raises:
            ValueError: no run is clean.
        """
        self.model = mine([event_log(run) for run in runs if run.label is None or not run.label.faulty])
        if folder is not None:
            (folder / MODEL).write_text(dumps(self.model.to_json()) + "\n", encoding="utf-8")

    def load(self, path: Path) -> None:
        """Take a model that a fit has kept."""
        self.model = ProcessModel.from_json(loads(path.read_bytes(), str(path)))

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run.

        Raises:
            ValueError: nothing was fitted or loaded.
        """
        if self.model is None:
            raise ValueError("conformance: expected a fitted model, call fit or load first")
        spec = spec_hash(self.spec | {"model": self.model.to_json()})
        return [self._verdict(run, self.model, spec) for run in runs]

    def _verdict(self, run: Trajectory, model: ProcessModel, spec: str) -> Verdict:
        start = time.perf_counter()
        found = deviations(event_log(run), model)
        sure = 1 - 1 / (model.runs + 2)
        at = {deviation.step for deviation in found}
        score = sure if found else self.silent
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec,
            faulty=bool(found),
            score=score,
            step=found[0].step if found else None,
            step_scores=tuple(sure if step.index in at else self.silent for step in run.steps),
            types=self._types(found),
            confidence=max(score, 1 - score),
            evidence=tuple(Evidence(d.step, note=f"{d.kind}: {d.message}") for d in found),
            rationale=found[0].message if found else "the run keeps to what clean runs have in common",
            latency_s=time.perf_counter() - start,
        )

    def _types(self, found: Sequence[Deviation]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.types[d.kind] for d in found if d.kind in self.types))
