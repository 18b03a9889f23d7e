"""The form that a judge's reply must have, and the strict reading of it.

A reply either is an opinion or it is a ``parse_fail`` with a reason; nothing is guessed, coerced or clamped, because
each such kindness moves a published rate. In particular:

- Only the last JSON object counts. If it is broken or off the menu, an earlier one is not taken instead: it may be what
  a trace said, quoted by the judge.
- ``"false"`` is not false; a missing field has no default; a confidence of 0.2 is neither 0.5 nor a flag turned round.
- A step that the trajectory does not have is invented evidence (detail ``unsupported_evidence: …``).
- ``faulty: true`` without a type or step is an opinion: it was seen that something is wrong. ``faulty: false`` with a
  type or a step contradicts itself (detail ``contradiction: …``): which half is meant cannot be known, and to take
  either would count in a rate what the reply itself denies.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from trajaudit._fields import Fields, Json, RecordError, fail, nearest
from trajaudit.taxonomy import Taxonomy

VERSION = 1
"""Raised when parsing changes: it is part of every LLM judge's spec."""
NO_TYPE = "none"
_OBJECT = re.compile(r'\{\s*["}]')


@dataclass(frozen=True)
class Reply:
    """A judge's opinion as it stated it; ``type`` is null for "none"."""

    reasoning: str
    faulty: bool
    confidence: float
    step: int | None = None
    type: str | None = None


def reply_schema(taxonomy: Taxonomy, view: str, reasoning_limit: int | None = None) -> dict[str, Json]:
    """Return the strict JSON schema of a reply, reasoning first so that the decision follows from it.

    The outcome view has no steps, so its form has no ``step``; that is the only difference between the two.

    Args:
        reasoning_limit: characters of reasoning that the grammar of a constrained endpoint allows, null for any number.
            A very small model can reason in circles until the token cap cuts it; some hosted endpoints refuse a limit.

    >>> from trajaudit.taxonomy import SUPPORT_DESK
    >>> list(reply_schema(SUPPORT_DESK, "step")["properties"])
    ['reasoning', 'faulty', 'step', 'type', 'confidence']
    """
    properties: dict[str, Json] = {
        "reasoning": {"type": "string"},
        "faulty": {"type": "boolean"},
        "step": {"type": ["integer", "null"], "minimum": 0},
        "type": {"type": "string", "enum": [*taxonomy.types, NO_TYPE]},
        "confidence": {"type": "number", "minimum": 0.5, "maximum": 1},
    }
    if reasoning_limit is not None:
        properties["reasoning"]["maxLength"] = reasoning_limit
    if view == "outcome":
        del properties["step"]
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def parse_reply(text: str, schema: dict[str, Json], n_steps: int) -> Reply:
    """Read a reply to a ``reply_schema`` about a trajectory of ``n_steps`` steps.

    Raises:
        RecordError: saying what was expected and what was given.

    >>> from trajaudit.taxonomy import SUPPORT_DESK
    >>> form = reply_schema(SUPPORT_DESK, "outcome")
    >>> parse_reply('{"reasoning": "", "faulty": "false", "type": "none", "confidence": 0.9}', form, 5)
    Traceback (most recent call last):
    ...
    trajaudit._fields.RecordError: reply.faulty: expected true or false, got 'false'
    """
    properties = schema["properties"]
    fields = Fields(last_object(text), "reply", tuple(properties))
    reasoning, faulty = fields.need("reasoning", str), fields.need("faulty", bool)
    step = _step(fields, n_steps) if "step" in properties else None
    kind = _type(fields, properties["type"]["enum"])
    confidence = fields.need("confidence", float)
    if not 0.5 <= confidence <= 1:
        fail("reply.confidence", "a number in [0.5, 1]", confidence)
    if not faulty and (kind is not None or step is not None):
        raise RecordError(f"contradiction: faulty is false, but the type is {kind or NO_TYPE!r} and the step {step}")
    return Reply(reasoning, faulty, float(confidence), step, kind)


def last_object(text: str) -> Json:
    """Return the last JSON object that stands in a text by itself (not inside another object, or a string of it).

    What follows the opening of an object that never closes is part of it, so nothing after it is read.

    Raises:
        RecordError: there is none, or it is broken: cut off, a repeated key, NaN.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_refuse)
    found, at = None, 0
    while opening := _OBJECT.search(text, at):
        try:
            found, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError) as error:
            raise RecordError(f"reply: the last JSON object is broken: {error}") from None
    if found is None:
        fail("reply", "a JSON object", text)
    return found


def _step(fields: Fields, n_steps: int) -> int | None:
    if "step" not in fields.obj:
        raise RecordError("reply.step: missing; expected an integer or null")
    step = fields.maybe("step", int)
    if step is not None and not 0 <= step < n_steps:
        raise RecordError(f"unsupported_evidence: reply.step: expected 0 to {n_steps - 1} (the last step), got {step}")
    return step


def _type(fields: Fields, allowed: list[str]) -> str | None:
    kind = fields.need("type", str)
    if kind not in allowed:
        raise RecordError(f"reply.type: unknown type {kind!r}{nearest(kind, allowed)}; known: {', '.join(allowed)}")
    return None if kind == NO_TYPE else kind


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key occurs twice")
    return out


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
