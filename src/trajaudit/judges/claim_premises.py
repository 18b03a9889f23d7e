"""What of a run may support one claim, and what of the claim is left to check.

A claim about one order is held against everything but what was observed of its peers (`claim_facts`). What it repeats
word by word of an observed text is supported as it stands, figures included, and taken out before values are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from trajaudit.judges.claim_facts import NUMBERED, Fact, Observed, shape
from trajaudit.judges.claim_sentences import stems
from trajaudit.judges.claim_values import Value, values

_SMALL = 12
"""Bare whole numbers up to this are counts and list positions more often than statements; they are not checked."""


class Premises(NamedTuple):
    """What of a run may support one claim: facts and texts about its subject, and the words that occur in it.

    ``named`` holds the request, the agents, the tools and their arguments as text.
    """

    facts: list[Fact]
    texts: list[str]
    words: frozenset[str]
    named: str
    request: str


def premises(seen: Observed, anchors: frozenset[str], before: int | None = None) -> Premises:
    """Return what was observed before a step (all of it where null), without the facts of the anchors' peers."""
    shapes = {shape(anchor) for anchor in anchors}

    @cache  # many facts share a scope
    def of_a_peer(scope: frozenset[str]) -> bool:
        return not scope & anchors and any(shape(name) in shapes for name in scope)

    def in_time(step: int) -> bool:
        return before is None or step < before

    facts = [fact for fact in seen.facts if in_time(fact.step) and not of_a_peer(fact.scope)]
    texts = [text for step, scope, text in seen.texts if step >= 0 and in_time(step) and not of_a_peer(scope)]
    steps = [step for step in seen.said if in_time(step)]
    mine = [step for step in steps if step < 0 or not of_a_peer(seen.scopes[step])]
    words = frozenset().union(*(seen.said[step] for step in mine), *(stems(text) for text in texts))
    words |= seen.said[-1]
    return Premises(facts, texts, words, " ".join(seen.named[step] for step in steps), seen.request)


def prepared(claim: str, seen: Observed, before: int | None = None) -> tuple[Premises, list[Value], bool]:
    """Return what may support a claim, the values to check, and whether the rest repeats an observed text."""
    known = seen.identifiers()
    numbered = _numbered(claim, known)
    named = {*numbered, *(value.text for value in values(claim) if value.kind == "identifier")}
    given = premises(seen, known & named, before)
    rest, quoted = _without_quotes(claim, given.texts)
    left = [Value("identifier", name) for name in NUMBERED.findall(rest) if name in numbered]
    rest = NUMBERED.sub(lambda match: " " if match.group() in numbered else match.group(), rest)
    return given, [*left, *(value for value in values(rest) if not _negligible(value))], quoted


def _numbered(claim: str, known: frozenset[str]) -> list[str]:
    """Return the names with a number in a claim whose kind is known ("Pump 9" where "Pump 5" was observed)."""
    kinds = {shape(name) for name in known}
    return [name for name in dict.fromkeys(NUMBERED.findall(claim)) if shape(name) in kinds]


def _without_quotes(claim: str, texts: Sequence[str]) -> tuple[str, bool]:
    """Return the claim without what it repeats word by word of an observed text of three words or more."""
    rest, quoted = claim, False
    for text in texts:
        words = text.strip(" .").split()
        if len(words) < 3 or words[0].casefold() not in claim.casefold():
            continue
        form = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
        rest, times = form.subn(" ", rest)
        quoted = quoted or times > 0
    return rest, quoted


def _negligible(value: Value) -> bool:
    bare = value.kind == "number" and not value.dimension
    return bare and all(number == int(number) and 0 <= number <= _SMALL for number in value.numbers)
