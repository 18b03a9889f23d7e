"""What agents say, worked out during the replay: thoughts with notes of what was just seen, and answers made of claims.

Nothing an agent states is fixed beforehand. A note or an answer is composed from the steps as they happened, so that
after a fault the rest of the run tells the truth about what it led to. A ``Lie`` makes one statement false; where the
run offers it nothing to falsify, the draw is given up (``Unfit``) rather than a fault labelled that is not there.
Words are drawn from a stream of the instance and the stage alone, so a faulty run words what it has in common with its
clean twin alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from trajaudit.testbeds.asset_ops.claims import Claim, Slots
from trajaudit.testbeds.asset_ops.instances import Unfit
from trajaudit.testbeds.asset_ops.wording import bank
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Course

Lie = Callable[[Claim, Draw], Claim | None]
"""Returns a false version of a claim, or None where the claim is not one that it makes false."""


def falsified(claims: list[Claim], lie: Lie, draw: Draw) -> list[Claim]:
    """Return the claims with the first one made false that the lie applies to.

    Raises:
        Unfit: where it applies to none.
    """
    for i, claim in enumerate(claims):
        false = lie(claim, draw)
        if false is not None:
            return [*claims[:i], false, *claims[i + 1 :]]
    raise Unfit


class Note(NamedTuple):
    """What a thought may note of what was just seen: the kind of the claim, and how to read it off the steps so far."""

    kind: str
    read: Callable[[Course], Slots | None]

    def __call__(self, course: Course) -> Claim | None:
        slots = self.read(course)
        return Claim(self.kind, slots) if slots is not None else None


@dataclass(frozen=True)
class Thought:
    """A thought: what is intended (fixed), after a note of what was just seen and before a thought said with it."""

    key: str
    wording: str
    intention: str
    note: Note | None = None
    lie: Lie | None = None
    also: tuple[Thought, ...] = ()

    def __call__(self, course: Course) -> str:
        said = [self.intention]
        noted = self.note(course) if self.note is not None else None
        if noted is not None and self.lie is not None:
            noted = falsified([noted], self.lie, Draw(f"{self.key}|lie"))[0]
        elif self.lie is not None:
            raise Unfit
        if noted is not None:
            said.insert(0, bank(self.wording).say(f"note.{noted.kind}", Draw(f"{self.key}|note"), **noted.slots))
        return " ".join((*said, *(thought(course) for thought in self.also)))

    def after(self, *others: Thought) -> Thought:
        """Return this thought with others said before it: those of calls that are left out."""
        first, *rest = (*others, self)
        return replace(first, also=(*first.also, *rest))


@dataclass(frozen=True)
class Answer:
    """The arguments of a ``finish``: the claims that the steps so far bear out, in the words of the bank.

    ``more`` is said at the end whatever happened: a sentence that this agent has no business saying, or one about a
    step that was not made.
    """

    key: str
    wording: str
    claims: Callable[[Course], list[Claim]]
    lie: Lie | None = None
    more: tuple[Claim, ...] = ()

    def __call__(self, course: Course) -> Arguments:
        claims = self.claims(course)
        if self.lie is not None:
            claims = falsified(claims, self.lie, Draw(f"{self.key}|lie"))
        return {"answer": told([*claims, *self.more], self.key, self.wording)}


def told(claims: list[Claim], key: str, wording: str) -> str:
    """Return claims as one text."""
    words = bank(wording)
    return " ".join(words.say(f"say.{kind}", Draw(f"{key}|{kind}"), **slots) for kind, slots in claims)
