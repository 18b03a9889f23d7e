"""Verdicts that a run has stored, served as a judge: how a panel seats a member that another model has answered for.

A run has one model, so each model of a panel judges in a run of its own, resumable and within its own budget, and the
panel reads what they said. A trajectory without a stored verdict on its present content is ``not_run``, so that the
panel is asked again once there is one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Json, lines, nearest
from trajaudit.auditor import spec_hash
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Usage, Verdict

VERSION = 1


class StoredJudge:
    """The verdicts of one auditor in a ``verdicts.jsonl``; a later line on a trajectory replaces an earlier one.

    The verdicts were paid for where they were made, so here they cost nothing.

    Args:
        path: the file.
        auditor: whose verdicts; null where the file holds those of one auditor only.

    Raises:
        FileNotFoundError, RecordError, ValueError: naming the file, the line or the auditor.
    """

    def __init__(self, *, path: str, auditor: str | None = None) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"judge.path: no such file: {path}")
        verdicts = [Verdict.from_json(obj, where) for where, obj in lines(path)]
        known = list(dict.fromkeys(verdict.auditor for verdict in verdicts))
        if auditor is None and len(known) != 1:
            raise ValueError(f"auditor: expected the name of one of {', '.join(known) or 'none'}, got null")
        self.name = known[0] if auditor is None else auditor
        if self.name not in known:
            raise ValueError(f"auditor: no verdicts of {auditor!r} in {path}{nearest(self.name, known)}")
        own = [verdict for verdict in verdicts if verdict.auditor == self.name]
        self._said = {(verdict.trajectory_id, verdict.content_hash): verdict for verdict in own}
        content = {f"{name} {content}": verdict.to_json() for (name, content), verdict in sorted(self._said.items())}
        self.spec: dict[str, Json] = {
            "judge": "stored",
            "version": VERSION,
            "auditor": self.name,
            "verdicts": spec_hash(content),
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the stored verdict on a trajectory as it is now."""
        key = (trajectory.id, trajectory.content_hash)
        if (said := self._said.get(key)) is None:
            detail = f"{self.name!r} has no stored verdict on {trajectory.id!r} as it is now"
            return Verdict(*key, self.name, self._spec_hash, "not_run", detail=detail)
        return replace(said, spec_hash=self._spec_hash, usage=Usage(), latency_s=None)
