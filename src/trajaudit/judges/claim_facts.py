"""What a run has observed, as facts that a claim can be held against, and which of them are about what.

The choice that matters is scope. "ORD-2 is answered within 24 hours" is not true because *some* order is: a fact
belongs to the identifiers of its own record and of the call that returned it, and to those that led to that call (the
article that order ORD-2 named belongs to ORD-2). A claim about ORD-2 is held against every fact but those of its peers,
identifiers of the same shape. Free text inside an observation counts, value by value; the answer itself, where a tool
echoes it, does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.judges.claim_sentences import stems
from trajaudit.judges.claim_values import UNITS, Value, values
from trajaudit.trajectory import Step, Trajectory

LABELS = ("kind", "name", "type", "label", "metric", "sensor", "field", "property")
"""Keys whose value says what the rest of a record is about: {"kind": "voucher", "value": 10}."""
_IGNORED = frozenset(("ok", "success", "error", "status_code"))


class Fact(NamedTuple):
    """One leaf of an observation.

    ``field`` names it as tool and key path; ``value`` is the leaf, ``dimension`` and ``scale`` the unit that its key
    ends in; ``scope`` holds the identifiers that it is about, and ``label`` what the record calls itself.
    """

    step: int
    field: str
    value: Json
    dimension: str
    scale: float
    scope: frozenset[str]
    label: str | None

    @property
    def key(self) -> str:
        return re.split("[.:]", self.field)[-1]

    @property
    def quote(self) -> str:
        """The fact as it stands in the observation."""
        return f"{json.dumps(self.key)}: {json.dumps(self.value, ensure_ascii=False)}"


@dataclass
class Observed:
    """All facts of a run, its words, and every text in which an identifier or name may stand.

    ``texts`` holds (step, scope, text) of each text leaf; ``said`` the words of the request, of the tools' names and
    arguments and of the observations' keys; the request counts as step -1.
    """

    request: str
    facts: list[Fact] = field(default_factory=list)
    texts: list[tuple[int, frozenset[str], str]] = field(default_factory=list)
    said: dict[int, frozenset[str]] = field(default_factory=dict)
    scopes: dict[int, frozenset[str]] = field(default_factory=dict)
    named: dict[int, str] = field(default_factory=dict)

    def identifiers(self) -> frozenset[str]:
        return frozenset().union(*self.scopes.values()) if self.scopes else frozenset()


@lru_cache(maxsize=65536)
def shape(identifier: str) -> str:
    """Return what an identifier shares with its peers.

    >>> shape("ORD-12345") == shape("ORD-9"), shape("ORD-1") == shape("CUS-1")
    (True, False)
    """
    return re.sub(r"[A-Z]?\d+", "0", identifier)


def observed(trajectory: Trajectory) -> Observed:
    """Return what the steps of a run have shown."""
    seen = Observed(trajectory.task)
    answer = trajectory.final_answer
    _take_text(seen, -1, frozenset(), trajectory.task)
    seen.said[-1], seen.named[-1] = stems(trajectory.task), trajectory.task.casefold()
    origin: dict[str, frozenset[str]] = {}
    for step in trajectory.steps:
        asked = _asked(step)
        scope = frozenset(asked).union(*(origin.get(name, frozenset()) for name in asked))
        seen.scopes[step.index] = scope
        leaves = list(_leaves(_parsed(step.observation), ("",), scope, None))
        for path, value, about, label in leaves:
            if isinstance(value, str) and answer and value.strip() == answer.strip():
                continue
            _take(seen, step, path, value, about, label)
            if isinstance(value, str) and value not in origin and _identifies(value):
                origin[value] = scope
        seen.said[step.index] = _said(step, [path for path, *_ in leaves], answer)
        seen.named[step.index] = f"{step.agent or ''} {_tool(step)} {_text_of(step, answer)}".replace(
            "_", " "
        ).casefold()
    return seen


def _tool(step: Step) -> str:
    return step.action.tool or "" if step.action is not None else ""


def _text_of(step: Step, answer: str | None) -> str:
    """Return a call's arguments as text, without those that hold the answer itself."""
    if step.action is None:
        return ""
    if step.action.args is None:
        return step.action.text or ""
    return " ".join(text for _, text in _strings(step.action.args) if not answer or text.strip() != answer.strip())


def _said(step: Step, paths: list[tuple[str, ...]], answer: str | None) -> frozenset[str]:
    keys = " ".join(part for path in paths for part in path)
    return stems(f"{_tool(step)} {step.agent or ''} {_text_of(step, answer)} {keys}")


def _asked(step: Step) -> list[str]:
    """Return the identifiers that a call names."""
    if step.action is None:
        return []
    if step.action.args is None:
        return [value.text for value in values(step.action.text or "") if value.kind == "identifier"]
    return [text for _, text in _strings(step.action.args) if _identifies(text)]


def _strings(args: Json) -> Iterator[tuple[tuple[str, ...], str]]:
    for path, value, *_ in _leaves(args, ("",), frozenset(), None):
        if isinstance(value, str):
            yield path, value


NUMBERED = re.compile(r"\b[A-Z][A-Za-z]+ \d{1,4}\b(?![.,]?\d)")
"""A name with a number ("Pump 5"): an identifier where a call or a field consists of it, words elsewhere."""


@lru_cache(maxsize=65536)
def _identifies(text: str) -> bool:
    if NUMBERED.fullmatch(text):
        return True
    found = values(text) if len(text) <= 80 else ()
    return len(found) == 1 and found[0].kind == "identifier" and found[0].text == text


def _parsed(observation: Json) -> Json:
    """Return an observation with JSON that came as text read as JSON."""
    if isinstance(observation, str) and observation.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(observation)
        except ValueError:
            return observation
    return observation


Leaf = tuple[tuple[str, ...], Json, frozenset[str], str | None]


def _leaves(data: Json, path: tuple[str, ...], scope: frozenset[str], label: str | None) -> Iterator[Leaf]:
    if isinstance(data, dict):
        own = [value for value in data.values() if isinstance(value, str) and _identifies(value)]
        scope = scope.union(own) if len(own) <= 4 else scope
        label = next((data[key] for key in LABELS if isinstance(data.get(key), str)), label)
        for key, value in data.items():
            yield from _leaves(value, (*path, str(key)), scope, None if key in LABELS else label)
    elif isinstance(data, list):
        if len(data) > 1 and not any(isinstance(item, dict | list) for item in data):
            yield (*path, "count"), len(data), scope, None
        for value in data:
            yield from _leaves(value, path, scope, label)
    else:
        yield path, data, scope, label


def _take(
    seen: Observed, step: Step, path: tuple[str, ...], value: Json, scope: frozenset[str], label: str | None
) -> None:
    if value is None or isinstance(value, bool) or (path[-1] in _IGNORED and not isinstance(value, str)):
        return
    dimension, scale = unit_of(path[-1])
    name = f"{_tool(step)}:{'.'.join(path[1:])}"
    seen.facts.append(Fact(step.index, name, value, dimension, scale, scope, label))
    if isinstance(value, str):
        _take_text(seen, step.index, scope, value, name, label)


def _take_text(
    seen: Observed, step: int, scope: frozenset[str], text: str, name: str = "task", label: str | None = None
) -> None:
    """Add a text, and the numbers and dates that stand in it as facts of their own."""
    seen.texts.append((step, scope, text))
    for value in values(text):
        if value.kind == "number":
            for number in value.numbers:
                seen.facts.append(Fact(step, name, number, value.dimension, value.scale, scope, label))
        elif value.kind == "date" and value.text != text:
            seen.facts.append(Fact(step, name, value.text, "", 1.0, scope, label))


def unit_of(key: str) -> tuple[str, float]:
    """Return the dimension and scale of the unit that a key ends in.

    >>> unit_of("payout_days"), unit_of("max_refund_eur"), unit_of("total")
    (('time', 86400), ('money', 1), ('', 1.0))
    """
    last = key.lower().rpartition("_")[2]
    many = "days" if key.lower().startswith("days_") else last
    plain = "_" not in key or "_per_" in key.lower()
    return ("", 1.0) if plain else UNITS.get(many, ("", 1.0))


def holds(fact: Fact, value: Value) -> bool:
    """Return whether a fact states a value: a number within its precision, a date or name by its text."""
    if isinstance(fact.value, int | float):
        return value.kind == "number" and value.fits(fact.value, fact.dimension, fact.scale)
    if not isinstance(fact.value, str) or value.kind == "number":
        return False
    if value.kind == "date" and value.text.startswith("-"):  # no year is said
        return re.search(rf"{re.escape(value.text)}(?!\d)", fact.value) is not None
    return re.search(rf"(?<!\w){re.escape(value.text)}(?!\w)", fact.value, re.IGNORECASE) is not None
