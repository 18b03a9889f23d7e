"""Which runs to read first, where nobody has said what is true of them.

No auditor's score is on another's scale, so runs are ordered by how many of the auditors that answered flag them, and
only then by the surest of these. A row shows where and what: the step and type of the surest auditor that names one,
and the evidence of the surest that gives any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajaudit.reports.table import Column, Row, Table
from trajaudit.trajectory import Step, Trajectory
from trajaudit.verdict import Verdict

COLUMNS = (
    *(Column("run", "run", "text"), Column("flagged", "flagged by", "text"), Column("score", "surest")),
    *(Column("step", "step", "text"), Column("type", "type", "text"), Column("evidence", "evidence", "text")),
)
_LONGEST = 90
"""Characters of evidence that a row holds; the page has all of it beside the run."""


@dataclass(frozen=True)
class Suspect:
    """A run with the verdicts that flag it, the surest first, and how many auditors answered."""

    run: Trajectory
    flags: tuple[Verdict, ...]
    answered: int

    @property
    def step(self) -> int | None:
        return next((flag.step for flag in self.flags if flag.step is not None), None)

    @property
    def type(self) -> str | None:
        return next((flag.types[0] for flag in self.flags if flag.types), None)

    @property
    def evidence(self) -> str | None:
        """Who says what of it: the first piece of evidence at the step that is named, else the first."""
        for flag in self.flags:
            pieces = sorted(flag.evidence, key=lambda piece: piece.step != flag.step)
            said = next((text for piece in pieces if (text := piece.note or piece.quote)), None)
            if said is not None:
                return f"{flag.auditor}: {said}"
        return None


def ranked(trajectories: Iterable[Trajectory], verdicts: Iterable[Verdict]) -> list[Suspect]:
    """Return every run, the most suspicious first; runs that nobody flags keep their order."""
    said: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.ok:
            said.setdefault(verdict.trajectory_id, []).append(verdict)
    found = []
    for run in trajectories:
        own = said.get(run.id, [])
        flags = sorted((v for v in own if v.faulty), key=lambda v: -(v.score or 0.0))
        found.append(Suspect(run, tuple(flags), len(own)))
    return sorted(found, key=lambda one: (-len(one.flags) / max(one.answered, 1), -_surest(one)))


def _surest(suspect: Suspect) -> float:
    return max((flag.score or 0.0 for flag in suspect.flags), default=0.0)


def suspects_table(suspects: Sequence[Suspect], most: int) -> Table:
    """Return the flagged runs among the first ``most``, a row each."""
    flagged = [one for one in suspects if one.flags]
    rows = [
        Row((one.run.id, _who(one), _surest(one), _where(one), one.type, _short(one.evidence)))
        for one in flagged[:most]
    ]
    notes = [f"{len(flagged)} of {len(suspects)} runs are flagged by at least one auditor."]
    notes += [f"Shown: the first {most}."] if len(flagged) > most else []
    return Table("suspects", "The most suspicious runs", COLUMNS, tuple(rows), tuple(notes))


def _who(suspect: Suspect) -> str:
    names = ", ".join(flag.auditor for flag in suspect.flags)
    return f"{len(suspect.flags)} of {suspect.answered}: {names}"


def _where(suspect: Suspect) -> str | None:
    """Return the step with its agent and tool, as the record numbers it: from 0."""
    if suspect.step is None:
        return None
    step: Step = suspect.run.steps[suspect.step]
    tool = step.action.tool if step.action is not None else None
    parts = [part for part in (step.agent, tool) if part]
    return f"{suspect.step} ({' '.join(parts)})" if parts else str(suspect.step)


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
