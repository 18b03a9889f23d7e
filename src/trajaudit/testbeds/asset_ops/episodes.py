"""The plant for an agent that acts by itself: one model plays all the parts, one after another.

The orchestrator plans; the agent of each task works with the tools of its mandate until it finishes; the summariser
answers. Who acts is the episode's, what is called is the model's: a tool outside the mandate of the one who acts *is*
carried out, as the plant does it for anyone, and the rules say that it was out of scope. A plan that names no agent
that exists leads straight to the summariser.

Two choices change what the labels mean. The rules read what was called in full, but sentences only where they are said
in the words of a bank, and a model speaks its own: of a wrong conclusion in free words they see nothing. And for the
same reason nobody knows whether the outcome is right (null), since the answer is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from trajaudit._fields import Json
from trajaudit.dataset import Procedure
from trajaudit.episode import Ending, Testbed, Tool
from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops.instances import FAMILIES, Instance, Unfit, Wish, instance_of
from trajaudit.testbeds.asset_ops.mandates import DOMAIN, MANDATES, ORCHESTRATOR, SUMMARISER, tool_specs
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.draw import opaque


def tools(agent: str) -> tuple[Tool, ...]:
    """Return the tools of an agent's mandate."""
    return tuple(Tool(**spec["function"]) for spec in tool_specs(agent))


TOOLS = {agent: tools(agent) for agent in MANDATES}
_AGENTS = "\n".join(f"- {agent} {MANDATES[agent]}." for agent in DOMAIN)


class PlantEpisode:
    """One question to the plant."""

    def __init__(self, instance: Instance) -> None:
        self.plant = Plant(instance.world, instance.key, instance.troubles)
        self.id, self.group = f"ep-{opaque(f'{instance.key}|episode')}", f"ao-{opaque(instance.key)}"
        self.task = instance.goal
        self.done = False
        self._now: tuple[str, str] = (ORCHESTRATOR, "")
        self._next: list[tuple[str, str]] = [(SUMMARISER, "")]
        self._answer: str | None = None

    @property
    def agent(self) -> str:
        return self._now[0]

    @property
    def tools(self) -> tuple[Tool, ...]:
        return TOOLS[self.agent]

    @property
    def brief(self) -> str:
        """Say who acts now, what that agent is there for, and which part of the plan is its own."""
        agent, task = self._now
        told = [f"You are now {agent}. {agent} {MANDATES[agent]}."]
        told += [f"Your part: {task}"] if task else []
        told += [f"The agents:\n{_AGENTS}"] if agent == ORCHESTRATOR else ["When this part is done, call finish."]
        return "\n".join(told)

    def call(self, tool: str, args: dict[str, Json]) -> Json:
        observation = self.plant.call(tool, args)
        if tool == "plan" and self.agent == ORCHESTRATOR and observation is None:
            self._next = [*_planned(args["tasks"]), (SUMMARISER, "")]
            self._now = self._next.pop(0)
        elif tool == "finish" and self.agent != ORCHESTRATOR and observation is None:
            self._answer = args["answer"] if self.agent == SUMMARISER else None
            self.done = self.agent == SUMMARISER
            self._now = self._now if self.done else self._next.pop(0)
        return observation

    def ending(self, said: str | None) -> Ending:
        return Ending(self._answer if self.done else said, None)


def _planned(tasks: Json) -> list[tuple[str, str]]:
    """Return the tasks of a plan that name an agent that exists, whatever else a model put there."""
    given = tasks if isinstance(tasks, list) else []
    pairs = [(task.get("agent"), task.get("task")) for task in given if isinstance(task, dict)]
    return [(agent, task) for agent, task in pairs if agent in DOMAIN and isinstance(task, str)]


def question(seed: int, number: int, wording: str) -> Instance:
    """Return question ``number`` of a seed: the families in turn, in settings without further troubles."""
    family, world = FAMILIES[number % len(FAMILIES)], f"{seed}"
    for attempt in range(1000):
        try:
            return instance_of(f"rollout|{wording}|{seed}|{number}|{attempt}", world, wording, Wish(family), False)
        except Unfit:
            continue
    raise ValueError(f"seed: no question of family {family!r} fits the plant of seed {seed}")


def asset_ops(*, n: int = 8, seed: int = 7, wording: Literal["a", "b"] = "a", procedure: str = "asset_ops") -> Testbed:
    """Return the first ``n`` questions of a seed as episodes.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """
    if n < 1:
        raise ValueError(f"n: expected at least 1, got {n}")

    def episodes() -> Iterator[PlantEpisode]:
        return (PlantEpisode(question(seed, number, wording)) for number in range(n))

    return Testbed(
        *("asset_ops", "industrial_maintenance", episodes, n),
        *(TRAJEL, Procedure.named(procedure), "asset_ops"),
    )
