"""The auditors that cost nothing: rules, conformance, claims, and the hybrid over them, put together for the verbs.

None of them asks a model. What is fitted (the process model, the fields that answers draw on, the hybrid's weights) is
three small JSON files, which `trajaudit reproduce experiment=blind_spot recipe.models=DIR` makes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from trajaudit._fields import Json, file_hash, nearest
from trajaudit.auditor import Judge, spec_hash
from trajaudit.detectors import conformance as conformance_room
from trajaudit.detectors import hybrid as hybrid_room
from trajaudit.detectors.conformance import Conformance
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.stacked import Makers
from trajaudit.judges import claims as claims_room
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.judges.rules import RulesJudge, Violation
from trajaudit.runs import interruptible
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

Check = Callable[[Trajectory], Sequence[Violation]]
Reading = Literal["strict", "standing_claims"]
PARTS = ("rules", "conformance", "claims")
"""What the free hybrid stacks."""
MODELS = Path(__file__).parents[1] / "detectors" / "fitted"


class Unfitted:
    """A judge that learns nothing, as a detector, so that it can stand beside fitted ones."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.name, self.spec = judge, judge.name, judge.spec

    def fit(self, runs: Sequence[Trajectory], folder: Path) -> None:
        """Learn nothing."""

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        async def ask() -> list[Verdict]:
            return [await self.judge.judge(run) for run in runs]

        return interruptible(ask())


def free_makers(check: Check, taxonomy: Taxonomy, standing_claims: Sequence[str], reading: Reading) -> Makers:
    """Return, for each free part, what makes an unfitted one.

    Args:
        check: the rule engine that knows the tools of the runs.
        reading: how claims are read, ``strict`` or ``standing_claims``.
    """
    return {
        "rules": lambda: Unfitted(RulesJudge(check)),
        "conformance": lambda: Conformance(taxonomy.name),
        "claims": lambda: ClaimsJudge(taxonomy, standing_claims, reading=reading),
    }


class FreeHybrid:
    """The hybrid over the free parts as a judge, loaded from the files that it ships as.

    Args:
        models: the name of a fitted set that ships with trajaudit, or the folder of one's own.

    Raises:
        ValueError: no such set.
    """

    name = "hybrid"

    def __init__(
        self,
        check: Check,
        taxonomy: Taxonomy,
        standing_claims: Sequence[str] = (),
        *,
        reading: Reading = "standing_claims",
        models: str = "support_desk",
    ) -> None:
        folder = fitted(models)
        self.hybrid = Hybrid.load(folder / hybrid_room.MODEL)
        self.rules = RulesJudge(check)
        self.conformance = Conformance(taxonomy.name)
        self.conformance.load(folder / conformance_room.MODEL)
        sources = str(folder / claims_room.MODEL)
        self.claims = ClaimsJudge(taxonomy, standing_claims, reading=reading, sources=sources)
        self.spec: dict[str, Json] = {
            "judge": "free_hybrid",
            "hybrid": file_hash(folder / hybrid_room.MODEL),
            "conformance": file_hash(folder / conformance_room.MODEL),
            "claims": self.claims.spec,
            "rules": self.rules.spec,
        }

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the hybrid's verdict on one run."""
        start = time.perf_counter()
        said = {
            "rules": [await self.rules.judge(trajectory)],
            "conformance": self.conformance.predict([trajectory]),
            "claims": [self.claims.audit(trajectory)],
        }
        (verdict,) = self.hybrid.predict([trajectory], said)
        return replace(verdict, spec_hash=spec_hash(self.spec), latency_s=time.perf_counter() - start)


class FittedConformance:
    """The conformance auditor as a judge, loaded from the file that it ships as; arguments as for `FreeHybrid`."""

    name = "conformance"

    def __init__(self, taxonomy: Taxonomy, *, models: str = "support_desk") -> None:
        self.detector = Conformance(taxonomy.name)
        folder = fitted(models)
        self.detector.load(folder / conformance_room.MODEL)
        self.spec: dict[str, Json] = self.detector.spec | {"model": file_hash(folder / conformance_room.MODEL)}

    async def judge(self, trajectory: Trajectory) -> Verdict:
        start = time.perf_counter()
        (verdict,) = self.detector.predict([trajectory])
        return replace(verdict, spec_hash=spec_hash(self.spec), latency_s=time.perf_counter() - start)


def fitted(models: str) -> Path:
    """Return the folder of a fitted set, by its name or path."""
    if Path(models).is_dir():
        return Path(models)
    known = sorted(path.name for path in MODELS.glob("*") if path.is_dir())
    if models not in known:
        raise ValueError(
            f"models: no such fitted set or folder {models!r}{nearest(models, known)}; known: {', '.join(known)}"
        )
    return MODELS / models
