"""A judge in process that takes its time, and notes every question it is asked; also a program, to be killed.

As a program: ``slow_judge.py STORE ASKED N SECONDS CONCURRENCY`` audits N runs and prints the summary.
"""

from __future__ import annotations

import asyncio
import os
import sys

from trajaudit.auditor import spec_hash
from trajaudit.runs.audit import run_audit
from trajaudit.runs.store import VerdictStore
from trajaudit.trajectory import Action, Source, Step, Trajectory
from trajaudit.verdict import Usage, Verdict


def runs(n: int) -> list[Trajectory]:
    """n short runs of different content."""
    return [
        Trajectory(
            f"t{i}", f"g{i}", f"Refund {i}.", (Step(0, "go", Action("refund", {"n": i}), "ok"),), "Done.", Source("x")
        )
        for i in range(n)
    ]


class SlowJudge:
    """Says of run ``ti`` what ``script`` has for it (a status or an exception), else that odd runs are faulty.

    Each question is one line in the file ``asked``, written before the answer exists, as an endpoint would count it.
    """

    def __init__(self, seconds: float = 0.0, asked: str | None = None, script: dict[str, object] | None = None) -> None:
        self.name, self.spec = "slow", {"judge": "slow", "version": 1}
        self.spec_hash = spec_hash(self.spec)
        self.seconds, self.asked, self.script = seconds, asked, script or {}
        self.questions: list[str] = []
        self.in_flight = self.most_in_flight = 0

    async def judge(self, trajectory: Trajectory) -> Verdict:
        self.questions.append(trajectory.id)
        if self.asked:
            with open(self.asked, "a") as file:
                file.write(f"{trajectory.id}\n")
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(self.seconds)
        self.in_flight -= 1
        said = self.script.get(trajectory.id, "ok")
        if isinstance(said, BaseException):
            raise said
        return self.verdict(trajectory, str(said))

    def verdict(self, trajectory: Trajectory, status: str = "ok") -> Verdict:
        faulty = int(trajectory.id[1:]) % 2 == 1 if status == "ok" else None
        score = None if faulty is None else float(faulty)
        filed = (trajectory.id, trajectory.content_hash, self.name, self.spec_hash, status)
        return Verdict(*filed, faulty, score, usage=Usage(1, 10, 0, 5, None), rationale="ü" * 200)


if __name__ == "__main__":
    path, asked, n, seconds, concurrency = sys.argv[1:]
    with VerdictStore(path) as store:
        print(os.getpid(), flush=True)
        judge = SlowJudge(float(seconds), asked)
        print(run_audit(judge, runs(int(n)), store, concurrency=int(concurrency)).line())
