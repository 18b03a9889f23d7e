"""One claim held against what was observed: supported, contradicted, unsupported, or out of reach of matching.

Contradicted means that the very thing was observed and is another (the field that the claim names, or the field that
such a value is always taken from, holds something else); unsupported that nothing observed says it. The difference
matters to a reader: the first is a slip of the pen or a lie, the second an invention.

A claim without any value is judged by its words: what share of them occurs in the request, the calls and the keys and
texts of the observations about its subject. That is weak, so it has a threshold, and such a claim can be handed on to a
model of entailment, which then decides instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple, Protocol

from trajaudit.judges.claim_facts import Fact, Observed, holds
from trajaudit.judges.claim_premises import Premises, prepared
from trajaudit.judges.claim_sentences import advised, stems
from trajaudit.judges.claim_values import UNITS, Value, values

SUPPORTED, UNSUPPORTED, CONTRADICTED, UNDECIDED = "supported", "unsupported", "contradicted", "undecided"
COVERED = 0.34
"""A claim of words alone is unsupported where at most this share of its words occurs."""

Sources = Mapping[str, Sequence[str]]
"""For a kind of value (`kind_of`), the fields that healthy answers take it from."""


class Probabilities(NamedTuple):
    """What a model of entailment says of a hypothesis: three probabilities that sum to 1."""

    entailment: float
    neutral: float
    contradiction: float


class Entailment(Protocol):
    """A model of natural language inference; ``name`` identifies its weights in an auditor's spec."""

    name: str

    def entails(self, premises: Sequence[str], hypothesis: str) -> Probabilities: ...


class Finding(NamedTuple):
    """What became of one claim. ``about`` is the value or word that decided, ``fact`` what was observed instead.

    ``strength`` in [0, 1] says how much a claim that is not supported weighs; ``invented`` that an identifier stands
    nowhere in the run.
    """

    status: str
    claim: str
    about: str | None = None
    fact: Fact | None = None
    strength: float = 0.0
    invented: bool = False


def check(claim: str, seen: Observed, *, before: int | None = None, sources: Sources | None = None) -> Finding:
    """Return what matching says of one claim.

    Args:
        before: only what was observed before this step counts; everything where null.
        sources: for a kind of value, the fields it is taken from in healthy runs; any field where null.
    """
    given, stated, support = prepared(claim, seen, before)
    for value in stated:
        if value.kind == "identifier":
            if not _occurs(value.text, given, seen, before):
                return Finding(UNSUPPORTED, claim, value.text, None, 0.9, invented=True)
            continue
        if not _supported(value, given, sources) and not _derived(value, stated):
            return _missing(claim, value, given, sources)
        support = True
    related = sum(value.kind == "identifier" for value in stated) > 1  # and all of them occur
    return Finding(SUPPORTED, claim) if support or related else _by_words(claim, seen.identifiers(), given)


def kind_of(value: Value) -> str:
    """Return what values are told apart by when it is learnt where they come from: their unit, or their kind.

    >>> kind_of(values("5 working days")[0]), kind_of(values("on Friday")[0])
    ('number time 86400', 'date')
    """
    return f"number {value.dimension} {value.scale:g}" if value.dimension else value.kind


def supporting(value: Value, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that state a value."""
    return [fact for fact in facts if holds(fact, value)]


def _occurs(identifier: str, given: Premises, seen: Observed, before: int | None) -> bool:
    word = identifier.casefold()
    texts = (text for step, _, text in seen.texts if before is None or step < before)
    return word.replace("_", " ") in given.named or any(word in text.casefold() for text in texts)


def _supported(value: Value, given: Premises, sources: Sources | None) -> bool:
    found = supporting(value, _eligible(value, given.facts, sources))
    if value.kind != "name" or found:
        return bool(found)
    if _eligible(value, given.facts, sources) is not given.facts:
        return value.text.casefold() in given.request.casefold()
    words = [word.casefold() for word in value.text.split()]
    if len(words) > 2 and "".join(word[0] for word in words) in given.words:
        return True  # spelled out what a key abbreviates
    spoken = f"{' '.join(given.texts)} {given.named}".casefold()
    return all(word in spoken or word[:5] in given.words for word in words)


def _derived(value: Value, stated: Sequence[Value]) -> bool:
    """Return whether a number is the difference, sum or relative difference of two others in the same claim."""
    if value.kind != "number":
        return False
    others = [number for other in stated if other is not value for number in other.numbers]
    for a, b in permutations(others, 2):
        of = [100 * (a - b) / b] if value.dimension == "percent" and b else [a - b, a + b]
        if any(value.fits(abs(number), value.dimension, value.scale) for number in of):
            return True
    return False


def _eligible(value: Value, facts: list[Fact], sources: Sources | None) -> list[Fact]:
    """Return the facts a value may come from: those of its learnt fields, or all where none of them was observed."""
    fields = (sources or {}).get(kind_of(value))
    taken = [fact for fact in facts if fields and (fact.field in fields or fact.field == "task")]
    return taken if any(fact.field != "task" for fact in taken) else facts


def _missing(claim: str, value: Value, given: Premises, sources: Sources | None) -> Finding:
    """Return the finding for a value that nothing states: contradicted where its place is filled otherwise."""
    rival = _rival(claim, value, given.facts, sources)
    status = UNSUPPORTED if rival is None else CONTRADICTED
    return Finding(status, claim, value.text, rival, 0.9 if rival is None else 0.95)


def _rival(claim: str, value: Value, facts: list[Fact], sources: Sources | None) -> Fact | None:
    """Return the latest fact comparable to the value that the claim names by key or label, or that it comes from."""
    words = stems(claim)
    fields = (sources or {}).get(kind_of(value), ())
    for fact in reversed(facts):
        if fact.step < 0 or not _comparable(fact, value):  # what the request says is no observation
            continue
        if (fact.label is None and fact.field in fields) or _names(fact, words):
            return fact
    return None


def _names(fact: Fact, words: frozenset[str]) -> bool:
    """Return whether words name the fact: all of its label, where it has one, else all of its key but the unit."""
    name = stems(fact.label) if fact.label else stems(_without_unit(fact.key))
    return bool(name) and name <= words


def _without_unit(key: str) -> str:
    head, _, last = key.rpartition("_")
    return head if last.lower() in UNITS else key


def _comparable(fact: Fact, value: Value) -> bool:
    if value.kind == "number":
        same = not value.dimension or not fact.dimension or value.dimension == fact.dimension
        return isinstance(fact.value, int | float) and same
    if not isinstance(fact.value, str) or len(fact.value.split()) > 4:
        return False
    dated = any(other.kind == "date" for other in values(fact.value))
    return dated == (value.kind == "date")


def _by_words(claim: str, anchors: frozenset[str], given: Premises) -> Finding:
    """Judge a claim without values: by a labelled record that it names, then by how many of its words occur."""
    words = stems(_but(claim, anchors))
    titles = {fact.label for fact in given.facts}
    short = [fact for fact in given.facts if isinstance(fact.value, str) and len(fact.value.split()) <= 3]
    spoken = [fact for fact in short if fact.value not in titles]  # what a record is called says nothing of it
    if any(stems(fact.value) and stems(fact.value) <= words for fact in spoken if not fact.value[:1].isdigit()):
        return Finding(SUPPORTED, claim)
    for fact in spoken:
        if fact.label and _names(fact, words):
            return Finding(CONTRADICTED, claim, fact.label, fact, 0.9)
    if len(words) < 2 or advised(claim) or claim.endswith(":"):
        return Finding(SUPPORTED, claim)
    covered = len(words & given.words) / len(words)
    if covered <= COVERED:
        return Finding(UNSUPPORTED, claim, None, None, 0.5 + 0.4 * (1 - covered))
    return Finding(UNDECIDED, claim, None, None, 0.5 * (1 - covered))


def _but(claim: str, anchors: frozenset[str]) -> str:
    for anchor in anchors:
        claim = claim.replace(anchor, " ")
    return claim
