"""The script that the oracle's calls are written into, with the detours that a plant forces on it.

A call that a service refuses for a moment is made once more; a history file that has vanished is fetched again, and
what needed it repeated. Both are conditional calls: they are in the script where the instance has such troubles, and
made only if the replay runs into them, whoever caused it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trajaudit.testbeds.asset_ops import mandates
from trajaudit.testbeds.asset_ops.claims import Claim, args_of, got
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.speech import Answer, Note, Thought
from trajaudit.testbeds.asset_ops.wording import bank, sentences
from trajaudit.testbeds.asset_ops.world import UNAVAILABLE
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Course, Late

NOTED, ASIDE = 0.6, 0.15
"""How often a thought notes what was just seen, and how often it has a second sentence of no consequence."""
Claims = Callable[[Course], list[Claim]]


def _refused(course: Course, stage: str, subject: int | None, reason: str) -> bool:
    """Return whether the last attempt at a stage was refused for this reason."""
    step = course.at.get((f"{stage}.retry", subject)) or course.at.get((stage, subject))
    answer: Any = step.observation if step is not None else None
    return isinstance(answer, dict) and reason in str(answer.get("error", ""))


class Script:
    """The calls of one run, in the order in which they are to be made."""

    def __init__(self, instance: Instance) -> None:
        self.it = instance
        self.calls: list[Call] = []
        self._draw = Draw(f"{instance.key}|thoughts")
        self._flaky = set(instance.troubles.passing | instance.troubles.lasting)
        self._purged = instance.troubles.purged

    def thought(self, stage: str, kind: str, note: Note | None = None) -> Thought:
        """Return the thought before a step of this kind."""
        words, it = bank(self.it.wording), self.it
        said = words.say(f"thought.{kind}", self._draw, site=it.site, asset=it.asset, other=it.other, sensor=it.sensor)
        if self._draw.chance(ASIDE):
            said = f"{said} {words.say('thought.aside', self._draw)}"
        noted = note if self._draw.chance(NOTED) and "taciturn" not in it.habits else None
        return Thought(f"{it.key}|{stage}", it.wording, said, noted)

    def act(
        self,
        agent: str,
        stage: str,
        kind: str,
        tool: str,
        args: Late,
        note: Note | None = None,
        subject: int | None = None,
    ) -> None:
        """Add a call, and its repetition where the instance lets the service fail."""
        key = f"{stage}|{subject}"
        self.calls.append(Call(stage, subject, self.thought(key, kind, note), tool, args, agent))
        if tool in self._flaky:
            self._flaky.discard(tool)

            def repeat(course: Course) -> Arguments | None:
                return args_of(course, stage, subject) if _refused(course, stage, subject, UNAVAILABLE) else None

            self.calls.append(Call(f"{stage}.retry", subject, self.thought(f"{key}|r", "retry"), tool, repeat, agent))

    def use(
        self, agent: str, stage: str, kind: str, tool: str, field: str, more: Late, note: Note | None = None
    ) -> None:
        """Add a call on the file of the history, and where that file may be gone, the same on a fresh one."""

        def on_file(course: Course) -> Arguments | None:
            fetched = got(course, "history")
            path = {field: fetched["file_path"]} if fetched else {}
            return {**path, **(more(course) or {})}

        self.act(agent, stage, kind, tool, on_file, note)
        if not self._purged:
            return
        self._purged = False

        def fetch(course: Course) -> Arguments | None:
            return args_of(course, "history") if _refused(course, stage, None, "No such file") else None

        def again(course: Course) -> Arguments | None:
            if ("history.again", None) not in course.at:
                return None
            return {**args_of(course, stage), field: got(course, "history")["file_path"]}

        refetch = self.thought("history.again", "refetch")
        self.calls.append(Call("history.again", None, refetch, "history", fetch, mandates.IOT))
        self.calls.append(Call(f"{stage}.again", None, self.thought(f"{stage}.again", kind), tool, again, agent))

    def finish(self, agent: str, claims: Claims, note: Note | None = None, stage: str | None = None) -> None:
        """Add the answer of an agent to its task."""
        stage = stage or f"finish.{agent}"
        kind = "summary" if agent == mandates.SUMMARISER else "finish"
        answer = Answer(f"{self.it.key}|{stage}", self.it.wording, claims)
        self.calls.append(Call(stage, None, self.thought(stage, kind, note), "finish", answer, agent))

    def plan(self, *tasks: tuple[str, str]) -> None:
        """Add the orchestrator's plan: (agent, kind of task) in order."""
        it = self.it
        slots = {"site": it.site, "asset": it.asset, "sensor": it.sensor, "week": it.week}
        words, listed = bank(it.wording), []
        for agent, kind in tasks:
            text = words.say(f"task.{kind}", Draw(f"{it.key}|task|{kind}"), **slots)
            listed.append({"agent": agent, "task": text})
        thought = self.thought("plan", "plan")
        self.calls.append(Call("plan", None, thought, "plan", {"tasks": listed}, mandates.ORCHESTRATOR))

    def summary(self, kinds: tuple[str, ...]) -> None:
        """Add the final answer: what the agents reported of these kinds, or all of it where they reported none.

        The summarising agent reads the reports as they stand, so an agent's mistake is passed on.
        """
        it = self.it

        def claims(course: Course) -> list[Claim]:
            reports = [(step.agent, claim) for step in course for claim in _reported(it.wording, step)]
            wanted = [claim for _, claim in reports if claim.kind in kinds]
            said = wanted or [claim for _, claim in reports]
            if "basis" in it.habits and reports:
                agents = dict.fromkeys(agent or "" for agent, claim in reports if claim in said)
                said = [*said, Claim("basis", {"agents": ", ".join(agents)})]
            return said

        self.finish(mandates.SUMMARISER, claims, stage="summary")


def _reported(wording: str, step: Any) -> list[Claim]:
    """Return the claims in the answer that a step gives to a task."""
    if step.action.tool != "finish":
        return []
    read = (bank(wording).read("say", sentence) for sentence in sentences(step.action.args["answer"]))
    return [Claim(*reading) for reading in read if reading is not None]
