"""Prompt variants: one Trajel judge asked in several ways, to see how much of its verdicts is the wording's.

Trajel's second stage varies how specific the instructions are, in which order the sub-goals come, and how much of the
procedure is told (section 4). Here that is six settings, each with the choice that the paper's own prompt makes as its
default, but for one: the paper's prompt holds the expected answer, and here the gold answer stays hidden unless
``with_reference`` asks for it, since an auditor at run time has none.

A variant's name is made of the settings that differ from the default, so two prompts never go by one name.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Literal

GOALS = {
    "reason_first": ("rationale", "faulty", "location", "types", "confidence"),
    "verdict_first": ("faulty", "types", "location", "confidence", "rationale"),
    "locate_first": ("location", "types", "faulty", "confidence", "rationale"),
}
"""The sub-goals in the order in which a reply states them; with a constrained endpoint, what comes first binds."""

_WORDS = {
    ("with_reference", True): "with_reference",
    ("examples", False): "no_examples",
    ("procedure", "none"): "no_procedure",
    ("instructions", "brief"): "brief",
}
_OUTLINE = re.compile(r"^(\s*(?:\d+\.\s+|-\s+)?[^.,;:(]*\w).*$")


@dataclass(frozen=True)
class PromptVariant:
    """How the Trajel judge is asked.

    Args:
        instructions: ``full`` says what counts, what does not, and how to go about it; ``brief`` only what is asked.
        definitions: order of the types: as the taxonomy has them, ``reversed``, or ``rotated`` by half.
        goals: order of the sub-goals, and of the fields of the reply.
        procedure: what the agents had to follow: in ``full``, an ``outline`` (the first clause of each point) or none.
        with_reference: show the expected answer.
        examples: show what is and what is not a hallucination.

    >>> PromptVariant().name, PromptVariant(definitions="reversed", examples=False).name
    ('default', 'reversed+no_examples')
    """

    instructions: Literal["full", "brief"] = "full"
    definitions: Literal["given", "reversed", "rotated"] = "given"
    goals: Literal["reason_first", "verdict_first", "locate_first"] = "reason_first"
    procedure: Literal["full", "outline", "none"] = "full"
    with_reference: bool = False
    examples: bool = True

    @property
    def name(self) -> str:
        """The settings that differ from the default, joined by ``+``."""
        words = [
            _WORDS.get((item.name, value), str(value))
            for item in fields(self)
            if (value := getattr(self, item.name)) != item.default
        ]
        return "+".join(words) or "default"

    @property
    def spec(self) -> dict[str, str | bool]:
        return asdict(self)

    def ordered(self, definitions: list[str]) -> list[str]:
        """Return the definitions in this variant's order.

        >>> PromptVariant(definitions="rotated").ordered(["a", "b", "c", "d", "e"])
        ['c', 'd', 'e', 'a', 'b']
        """
        half = len(definitions) // 2
        orders = {
            "given": definitions,
            "reversed": definitions[::-1],
            "rotated": definitions[half:] + definitions[:half],
        }
        return orders[self.definitions]

    def told(self, procedure: str) -> str:
        """Return as much of a procedure as this variant tells.

        >>> PromptVariant(procedure="outline").told("1. Look up the order, by its id.\\n2. Reply. Be kind.")
        '1. Look up the order\\n2. Reply'
        """
        if self.procedure == "none":
            return ""
        if self.procedure == "full":
            return procedure.strip()
        return "\n".join(_OUTLINE.sub(r"\1", line) for line in procedure.strip().splitlines())


def default_name(auditor: str) -> str:
    """Return the name that an auditor has under the default variant.

    >>> default_name("selfcons5:trajel+brief+no_examples:m"), default_name("step:m")
    ('selfcons5:trajel:m', 'step:m')
    """
    return re.sub(r"\btrajel(?:\+[a-z_]+)+", "trajel", auditor)
