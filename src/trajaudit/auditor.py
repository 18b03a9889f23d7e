"""What every auditor has: a name, a spec that identifies it, and a way from a trajectory to a verdict."""

from __future__ import annotations

import hashlib
from typing import Protocol

from trajaudit._fields import Json, canonical
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict


def spec_hash(spec: Json) -> str:
    """Return the identity of an auditor: SHA-256 over everything that could change one of its verdicts."""
    return hashlib.sha256(canonical(spec)).hexdigest()


class StopRun(Exception):
    """What stops a whole run and not one item (a spent budget): nothing more is asked, what is stored stays."""


class Judge(Protocol):
    """An auditor that reads one trajectory at a time.

    ``spec`` holds everything that could change a verdict (model, prompt hash, schema, decoding, seed, repeats,
    truncation, version), and no secret. A judge never raises for one bad item: it returns a verdict whose status says
    what happened. It raises only for what stops the whole run (a spent budget, a broken configuration).
    """

    name: str
    spec: dict[str, Json]

    async def judge(self, trajectory: Trajectory) -> Verdict: ...
