"""Judges that look at nothing: what a score has to beat before it means anything.

On a set in which three of four runs are faulty, flagging every one of them has an F1 of 0.857, more than some published
judges; a table without that line flatters everything in it.
"""

from __future__ import annotations

import hashlib

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

VERSION = 1


class ConstantJudge:
    """A judge that always says the same, and is certain of it.

    >>> ConstantJudge(faulty=True).name
    'always_faulty'
    """

    def __init__(self, faulty: bool) -> None:
        self.faulty = faulty
        self.name = "always_faulty" if faulty else "never_faulty"
        self.spec: dict[str, Json] = {"judge": self.name, "version": VERSION}
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self._spec_hash,
            faulty=self.faulty,
            score=float(self.faulty),
            confidence=1.0,
            latency_s=0.0,
        )


class RandomJudge:
    """A judge that flags a share ``rate`` of all trajectories by a toss that depends on content and seed alone.

    So its verdicts do not depend on the order, the subset or the number of runs. Its score is the rate for every item
    (it knows no more), its confidence 0.5.

    Args:
        rate: the share that is flagged, in [0, 1]; the base rate of faults makes it the chance line.
    """

    def __init__(self, rate: float, seed: int = 0) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"rate: expected a number in [0, 1], got {rate}")
        self.rate, self.seed = rate, seed
        self.name = "random"
        self.spec: dict[str, Json] = {"judge": "random", "version": VERSION, "rate": rate, "seed": seed}
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        digest = hashlib.sha256(f"{self.seed}/{trajectory.content_hash}".encode()).digest()
        toss = int.from_bytes(digest[:8], "big") / 2**64
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self._spec_hash,
            faulty=toss < self.rate,
            score=self.rate,
            confidence=0.5,
            latency_s=0.0,
        )
