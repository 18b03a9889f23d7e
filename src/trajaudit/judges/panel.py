"""A panel: several judges read the same run, the majority decides, and how far they differ is a signal of its own.

Members need not be alike: a rule engine, two views of one model and another model's stored verdicts can sit together.
Choices that move numbers: a flag needs more than half of the votes, so a tie is clean; the score is the mean of the
members' scores (a member that states none counts 1 or 0), so it can stand on the other side of a half than the vote;
the confidence is the share of votes on the winning side. A member that fails is out of the vote and counted in
``detail``; with fewer votes than ``quorum`` the panel abstains. A member that was not answered (``api_error``,
``not_run``) makes the whole verdict one of that status: the next run asks again, where a vote without it would stand.

Disagreement is recorded as uncertainty: ``disagreement`` is the share of pairs of voting members that differ in
``faulty`` (0 where all agree), ``score_spread`` the standard deviation of their scores.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import add

from trajaudit._fields import Json
from trajaudit.auditor import Judge, spec_hash
from trajaudit.judges.self_consistency import most_frequent, voted_types
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import RETRYABLE, Evidence, Usage, Verdict

VERSION = 1


class Panel:
    """A judge that lets other judges vote. They are asked one after another.

    Args:
        members: the judges, by what each is called in the panel.
        quorum: votes without which the panel abstains; more than half of the members where null.
        name: of the panel in tables; made of the members' own names where null.
    """

    def __init__(self, members: Mapping[str, Judge], *, quorum: int | None = None, name: str | None = None) -> None:
        if len(members) < 2:
            raise ValueError(f"members: expected at least two judges, got {', '.join(members) or 'none'}")
        self.members = dict(members)
        self.quorum = len(members) // 2 + 1 if quorum is None else quorum
        if not 1 <= self.quorum <= len(members):
            raise ValueError(f"quorum: expected 1 to {len(members)} (the members), got {quorum}")
        self.name = name or _name([member.name for member in members.values()])
        self.spec: dict[str, Json] = {
            "judge": "panel",
            "version": VERSION,
            "quorum": self.quorum,
            "members": {name: member.spec for name, member in self.members.items()},
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict of the majority.

        Raises:
            BudgetExceeded: the run has to stop.
        """
        said = {name: await member.judge(trajectory) for name, member in self.members.items()}
        filed = Verdict(trajectory.id, trajectory.content_hash, self.name, self._spec_hash, "abstain")
        return decide(said, self.quorum, filed)


def _name(members: list[str]) -> str:
    """Return a panel's name; a model that all members share is named once, where other judges have it.

    >>> _name(["outcome:m", "trajel:m", "rules"]), _name(["step:m", "step:n"])
    ('panel(outcome,trajel,rules):m', 'panel(step:m,step:n)')
    """
    models = {name.partition(":")[2] for name in members} - {""}
    if len(models) != 1:
        return f"panel({','.join(members)})"
    return f"panel({','.join(name.partition(':')[0] for name in members)}):{models.pop()}"


def decide(said: Mapping[str, Verdict], quorum: int, filed: Verdict) -> Verdict:
    """Return what a panel's members decide, filed as ``filed`` is.

    >>> filed = Verdict("t", "c", "panel", "s", "abstain")
    >>> votes = {name: Verdict("t", "c", name, "s", faulty=faulty, score=score)
    ...          for name, faulty, score in (("a", True, 0.9), ("b", True, 0.6), ("c", False, 0.3))}
    >>> won = decide(votes, 2, filed)
    >>> won.faulty, round(won.score, 3), round(won.confidence, 3), round(won.uncertainty["disagreement"], 3)
    (True, 0.6, 0.667, 0.667)
    >>> decide({"a": votes["a"], "b": filed}, 2, filed).detail
    '1 of 2 members voted, 2 are needed; failed: b abstain'
    """
    voting = {name: verdict for name, verdict in said.items() if verdict.ok}
    failed = ", ".join(f"{name} {verdict.status}" for name, verdict in said.items() if not verdict.ok)
    latencies = [verdict.latency_s for verdict in said.values() if verdict.latency_s is not None]
    filed = replace(
        filed,
        usage=reduce(add, (verdict.usage for verdict in said.values()), Usage()),
        latency_s=sum(latencies) if latencies else None,
    )
    unanswered = next(((name, one) for name, one in said.items() if one.status in RETRYABLE), None)
    if unanswered is not None:
        name, one = unanswered
        return replace(filed, status=one.status, detail=f"{name} was not answered: {one.detail}")
    note = f"{len(voting)} of {len(said)} members voted"
    if len(voting) < quorum:
        return replace(filed, detail=f"{note}, {quorum} are needed; failed: {failed}")
    return replace(_decided(voting, filed), detail=f"{note}; failed: {failed}" if failed else None)


def _decided(voting: Mapping[str, Verdict], filed: Verdict) -> Verdict:
    flags = [verdict for verdict in voting.values() if verdict.faulty]
    n, scores = len(voting), [_score(verdict) for verdict in voting.values()]
    faulty = 2 * len(flags) > n
    differing = len(flags) * (n - len(flags))
    return replace(
        filed,
        status="ok",
        faulty=faulty,
        score=statistics.fmean(scores),
        step=most_frequent(flag.step for flag in flags if flag.step is not None) if faulty else None,
        types=voted_types(flags) if faulty else (),
        confidence=max(len(flags), n - len(flags)) / n,
        evidence=tuple(Evidence(verdict.step, note=_vote(name, verdict)) for name, verdict in voting.items()),
        rationale=f"{len(flags)} of {n} votes for faulty",
        uncertainty={
            "disagreement": differing / (n * (n - 1) / 2) if n > 1 else 0.0,
            "score_spread": statistics.pstdev(scores),
        },
    )


def _score(verdict: Verdict) -> float:
    """Return the probability of a fault that a vote states, or the vote itself as one."""
    if verdict.score is not None:
        return verdict.score
    sure = 1.0 if verdict.confidence is None else verdict.confidence
    return sure if verdict.faulty else 1 - sure


def _vote(name: str, verdict: Verdict) -> str:
    types = f" ({', '.join(verdict.types)})" if verdict.types else ""
    return f"{name}: {'faulty' if verdict.faulty else 'clean'}{types}, score {_score(verdict):.2f}"
