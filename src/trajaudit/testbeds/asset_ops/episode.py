"""An episode: one question and a fresh plant, for an agent from outside that makes real tool calls.

What the scripted oracle is to the generated runs, a language model is here: it is given the task, the mandates and the
tool specs, and every call it makes is answered by the very plant that the oracle works in, with the same troubles. The
runs it makes carry no label of construction; the rules and the outcome are what there is to say of them.

The outcome is read more loosely than in generated runs, where the wording is known: an answer in any words counts as
right if it holds every value and name that the expected one turns on, and the work orders are those that were due.
"""

from __future__ import annotations

from dataclasses import dataclass

from trajaudit._fields import Json, dumps
from trajaudit.testbeds.asset_ops.answers import expected, left_as_due, reference
from trajaudit.testbeds.asset_ops.instances import FAMILIES, Instance, Unfit, Wish, instance_of
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.draw import opaque

_IN_ANY_WORDS = ("side", "trend", "due", "stat", "week", "site", "pct", "tool")
"""Slots whose value an answer may put in its own words, or leave out because the question names it."""


@dataclass
class Episode:
    """A question with the plant to answer it from.

    ``group`` is opaque; ``task`` is the question; ``reference`` the expected answer, which the agent never sees.
    """

    instance: Instance
    plant: Plant

    @property
    def group(self) -> str:
        return f"ao-{opaque(self.instance.key)}"

    @property
    def task(self) -> str:
        return self.instance.goal

    @property
    def reference(self) -> str:
        return reference(self.instance)

    def call(self, tool: str, args: dict[str, Json]) -> Json:
        """Answer one call as the plant does; it never raises for what an agent asks."""
        return self.plant.call(tool, args)

    def text(self, observation: Json) -> str:
        """Return an observation as a model is shown it."""
        return dumps(observation)

    def outcome_correct(self, final_answer: str) -> bool:
        """Return whether an answer in any words holds what the expected one turns on, and the orders are as due."""
        wanted = expected(self.instance)
        facts = [slots for claim in wanted for name, slots in claim.slots.items() if name not in _IN_ANY_WORDS]
        told = all(part in final_answer for fact in facts for part in fact.split(", "))
        return told and left_as_due(self.instance, self.plant, wanted)


def episode(number: int, seed: int = 7, wording: str = "a") -> Episode:
    """Return episode ``number``: the families of questions in turn, in lively plants.

    >>> episode(0).task
    'Give all assets registered at site TERMINAL.'
    """
    for attempt in range(200):
        key = f"episode|{seed}|{wording}|{number}|{attempt}"
        try:
            instance = instance_of(key, str(seed), wording, Wish(FAMILIES[number % len(FAMILIES)]), lively=True)
        except Unfit:
            continue
        return Episode(instance, Plant(instance.world, instance.key, instance.troubles))
    raise RuntimeError(f"episode {number}: nothing at any site fits its question")
