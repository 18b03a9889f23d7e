"""The wording banks of the varied preset: grammars for everything that is said, in two banks with nothing in common.

A detector that is trained on bank ``a`` and tested on bank ``b`` has learnt the fault and not the phrase. Within a
bank, what an agent thinks is drawn by what it means to do, never by whether it goes wrong, and no thought says what a
tool answered: an agent that skips the check or stops early has the same thoughts in the same words. A fabricated
sentence of a reply comes from the forms that true sentences come from.

All choices of a form (``testbeds.grammar``) are written out when a bank is loaded, and drawn uniformly. ``Bank.read``
goes the other way, from a sentence to the kind of form and its slots, which is how the witness knows what a reply
claims.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.grammar import expanded, pattern

BANKS = ("a", "b")
_SLOTS = {"order": r"ORD-\d+"}


class Bank:
    """One wording bank. ``forms`` maps a kind, such as ``thought.policy``, to the forms as they were written."""

    def __init__(self, name: str, grammar: dict[str, Any]) -> None:
        self.name = name
        self.orders: dict[str, str] = grammar.pop("orders")
        self.forms: dict[str, list[str]] = {}
        for group, body in grammar.items():
            kinds = body if isinstance(body, dict) else {"": body}
            self.forms.update({f"{group}.{kind}".rstrip("."): forms for kind, forms in kinds.items()})
        self.sentences = {kind: tuple(s for f in forms for s in expanded(f)) for kind, forms in self.forms.items()}
        self._patterns = [
            (kind, re.compile(pattern(form, _SLOTS)))
            for kind, forms in self.forms.items()
            for form in forms
            if kind.startswith("reply_to")
        ]

    def say(self, kind: str, draw: Draw, **slots: object) -> str:
        """Return a sentence of this kind with its slots filled."""
        return draw.pick(self.sentences[kind]).format(**slots)

    def naming(self, ids: list[str]) -> str:
        """Return the phrase that names one order or several."""
        if len(ids) == 1:
            return self.orders["one"].format(ids=ids[0])
        return self.orders["many"].format(ids=", ".join(ids[:-1]) + self.orders["last"] + ids[-1])

    def read(self, sentence: str) -> tuple[str, dict[str, str]] | None:
        """Return (kind, slots) of a sentence of a reply, or None where no form of this bank says it.

        >>> bank("a").read("Warranty on ORD-12345 runs for 12 months.")
        ('warranty', {'order': 'ORD-12345', 'value': '12'})
        """
        for kind, form in self._patterns:
            match = form.fullmatch(sentence)
            if match:
                return kind.removeprefix("reply_to."), match.groupdict()
        return None

    def thinks_of(self, kind: str, thought: str) -> bool:
        """Return whether a thought holds a sentence of this kind (``policy``, ``check``, …)."""
        return any(form.search(thought) for form in _compiled(self.name, f"thought.{kind}"))


@cache
def bank(name: str) -> Bank:
    """Return a wording bank by name, ``a`` or ``b``."""
    text = (files(__package__) / f"wording_{name}.yaml").read_text(encoding="utf-8")
    return Bank(name, yaml.safe_load(text))


@cache
def _compiled(name: str, kind: str) -> list[re.Pattern[str]]:
    return [re.compile(pattern(form, _SLOTS)) for form in bank(name).forms[kind]]
