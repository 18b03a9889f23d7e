"""The form of a Trajel review, and the strict reading of it.

Two things differ from the form of the testbed paper's judges. Types are a set, since half of Trajel's faulty runs show
several. And the place is text ("step 2, action; step 4, thought"), read by the grammar that reads the annotators' own:
each place becomes one piece of evidence (step, component), and the verdict's ``step`` is the earliest one named, as the
gold step is the earliest fault. Both are text with the word "none" on the menu, and an endpoint that constrains
decoding is held to the menu by a pattern: given a list to fill, a very small model fills it, and calls a run clean and
names types in one breath.

As in ``reply``, nothing is guessed: what contradicts itself (clean, but with a type or a place) is a ``parse_fail``,
and so is a step that the run does not have. A type listed twice is one type: it says no more than listing it once.
"""

from __future__ import annotations

from trajaudit import location
from trajaudit._fields import Fields, Json, RecordError, fail, nearest
from trajaudit.judges.asking import Opinion
from trajaudit.judges.reply import last_object
from trajaudit.judges.variant import GOALS, PromptVariant
from trajaudit.taxonomy import Taxonomy
from trajaudit.verdict import Evidence

VERSION = 1
NOTHING = ("", "none")
_PLACE = r"(step [0-9]{1,3}, (thought|action|observation|final answer)|final answer)"
_PATTERN = rf"^(none|{_PLACE}(; {_PLACE}){{0,4}})$"


def reply_schema(taxonomy: Taxonomy, variant: PromptVariant, reasoning_limit: int | None = None) -> dict[str, Json]:
    """Return the strict JSON schema of a reply, its fields in the order of the variant's sub-goals.

    >>> from trajaudit.taxonomy import TRAJEL
    >>> list(reply_schema(TRAJEL, PromptVariant(goals="locate_first"))["properties"])
    ['location', 'types', 'faulty', 'confidence', 'rationale']
    """
    names = "|".join(taxonomy.types)
    forms: dict[str, Json] = {
        "rationale": {"type": "string", **({} if reasoning_limit is None else {"maxLength": reasoning_limit})},
        "faulty": {"type": "boolean"},
        "location": {"type": "string", "pattern": _PATTERN},
        "types": {"type": "string", "pattern": rf"^(none|({names})(, ({names})){{0,{len(taxonomy.types) - 1}}})$"},
        "confidence": {"type": "number", "minimum": 0.5, "maximum": 1},
    }
    order = list(GOALS[variant.goals])
    properties = {goal: forms[goal] for goal in order}
    return {"type": "object", "properties": properties, "required": order, "additionalProperties": False}


def parse_reply(text: str, types: tuple[str, ...], n_steps: int) -> Opinion:
    """Read a reply about a trajectory of ``n_steps`` steps; only its last JSON object counts.

    Raises:
        RecordError: saying what was expected and what was given.

    >>> said = '{"rationale": "r", "faulty": true, "location": "Step 2, thought; Step 1, Action and final answer",'
    >>> opinion = parse_reply(said + '"types": "scope, factual", "confidence": 0.8}', ("factual", "scope"), 5)
    >>> opinion.step, opinion.types, [(place.step, place.note) for place in opinion.evidence]
    (1, ('scope', 'factual'), [(2, 'thought'), (1, 'action'), (1, 'final_answer')])
    """
    fields = Fields(last_object(text), "reply", GOALS["reason_first"])
    rationale, faulty = fields.need("rationale", str), fields.need("faulty", bool)
    places = _places(fields.need("location", str), n_steps)
    named = _types(fields.need("types", str), types)
    confidence = fields.need("confidence", float)
    if not 0.5 <= confidence <= 1:
        fail("reply.confidence", "a number in [0.5, 1]", confidence)
    if not faulty and (named or places):
        given = " and ".join(f"{key} is {fields.obj[key]!r}" for key in ("types", "location"))
        raise RecordError(f"contradiction: faulty is false, but {given}")
    step = min((place.step for place in places if place.step is not None), default=None)
    return Opinion(faulty, float(confidence), rationale, step, named, places)


def _places(text: str, n_steps: int) -> tuple[Evidence, ...]:
    if text.strip().lower() in NOTHING:
        return ()
    found = location.parse_steps(text)
    for place in found:
        if place.task is not None and place.task >= n_steps:
            raise RecordError(
                f"unsupported_evidence: reply.location: expected steps 0 to {n_steps - 1} (the last), got {place.task}"
            )
    return tuple(
        Evidence(place.task, note="final_answer" if place.component == "response" else place.component)
        for place in found
    )


def _types(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that a reply names, each once."""
    if text.strip().lower() in NOTHING:
        return ()
    named = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in named:
        if name not in known:
            raise RecordError(f"reply.types: unknown type {name!r}{nearest(name, known)}; known: {', '.join(known)}")
    return named
