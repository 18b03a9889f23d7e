"""A rule checker as a judge: it costs nothing, never errs on what its rules cover, and is blind to all the rest.

Its confidences are set, not measured: 0.95 where a rule fired and 0.6 where none did, as the testbed paper publishes
them (section 4), since two of the six fault types lie outside its rules. They decide its calibration error, so they are
arguments and part of the spec.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Verdict

VERSION = 1


class Violation(Protocol):
    """A rule that fired: its name, the step it fired at (null where at none), the fault type it shows, and why."""

    @property
    def rule(self) -> str: ...
    @property
    def step(self) -> int | None: ...
    @property
    def type(self) -> str: ...
    @property
    def message(self) -> str: ...


class RulesJudge:
    """A judge that flags a trajectory in which ``check`` finds a violation; the earliest gives step and type.

    Args:
        check: the testbed's rule checker.
        version: of the rules; raise it when they change, so that stored verdicts are not taken for new ones.
        flagged: confidence where a rule fired.
        clean: confidence where none did.
    """

    def __init__(
        self,
        check: Callable[[Trajectory], Sequence[Violation]],
        name: str = "rules",
        *,
        version: int = 1,
        flagged: float = 0.95,
        clean: float = 0.6,
    ) -> None:
        for key, value in (("flagged", flagged), ("clean", clean)):
            if not 0.5 <= value <= 1:
                raise ValueError(f"{key}: expected a confidence in [0.5, 1], got {value}")
        self.check, self.name, self.flagged, self.clean = check, name, flagged, clean
        self.spec: dict[str, Json] = {
            "judge": "rules",
            "version": VERSION,
            "rules": f"{check.__module__}.{check.__qualname__}",
            "rules_version": version,
            "flagged": flagged,
            "clean": clean,
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict of the rules; the evidence lists every violation."""
        start = time.perf_counter()
        found = sorted(self.check(trajectory), key=lambda violation: (violation.step is None, violation.step or 0))
        seconds = time.perf_counter() - start
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self._spec_hash,
            faulty=bool(found),
            score=self.flagged if found else 1 - self.clean,
            step=found[0].step if found else None,
            types=(found[0].type,) if found else (),
            confidence=self.flagged if found else self.clean,
            evidence=tuple(Evidence(violation.step, note=_note(violation)) for violation in found),
            rationale=_note(found[0]) if found else "no rule fired",
            latency_s=seconds,
        )


def _note(violation: Violation) -> str:
    return f"{violation.rule}: {violation.message}"
