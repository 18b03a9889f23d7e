"""The wording banks of the plant: what is asked, planned, thought and answered, in two banks with nothing in common.

A detector that is trained on bank ``a`` and tested on bank ``b`` has learnt the fault and not the phrase. What an agent
thinks is drawn by what it is about to do, never by whether it goes wrong; the notes that go with it state values, true
ones in healthy runs and one false one where a thought is at fault.

A claim said by ``Bank.say`` is read back by ``Bank.read``. A text is its sentences in a row; decimals and dates hold no
full stop followed by a blank, so they come apart again.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import yaml

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.grammar import expanded, pattern

BANKS = ("a", "b")
_READING = r"-?\d+\.\d\d"
_ASSET = r"(?:Chiller|AHU|Pump) \d+"
_SLOTS = {
    **dict.fromkeys(("value", "a", "b", "last"), _READING),
    **dict.fromkeys(("asset", "other", "winner"), _ASSET),
    **dict.fromkeys(("week", "since"), r"\d{4}-\d\d-\d\d"),
    **dict.fromkeys(("count", "alerts", "priority"), r"\d+"),
    "first": r"[\d.T:-]*\d",
    "limit": r"\d+(?:\.\d\d)?",
    "file": r"/tmp/cbmdir/[0-9a-f-]+\.json",
    "site": r"[A-Z]+",
    "sensor": r"[A-Z][a-z]+(?: [A-Z][a-z]+)*",
    "mode": r"[a-z]+(?: [a-z]+)*",
    "unit": r"[A-Za-z/]+",
    "side": "above|below",
    "trend": "rising|falling",
    "due": "needed|not needed",
    "stat": "mean|minimum|maximum",
    "pct": r"\d+\.\d",
    "wo": r"WO-\d+",
    "bundle": r"WB-\d+",
    "model": r"ttm_\w+",
    "tool": r"\w+",
}
_SENTENCES = re.compile(r"(?<=[.?]) (?=\S)")


class Bank:
    """One wording bank: for each kind, such as ``say.trend``, every sentence that it can be said in."""

    def __init__(self, grammar: dict[str, dict[str, list[str]]]) -> None:
        self.forms = {f"{group}.{kind}": forms for group, kinds in grammar.items() for kind, forms in kinds.items()}
        self.sentences = {kind: tuple(s for f in forms for s in expanded(f)) for kind, forms in self.forms.items()}
        self._patterns: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for kind, forms in self.forms.items():
            group, _, name = kind.partition(".")
            self._patterns.setdefault(group, []).extend((name, re.compile(pattern(form, _SLOTS))) for form in forms)

    def say(self, kind: str, draw: Draw, **slots: object) -> str:
        """Return a sentence of this kind with its slots filled."""
        return draw.pick(self.sentences[kind]).format(**slots)

    def read(self, group: str, sentence: str) -> tuple[str, dict[str, str]] | None:
        """Return (kind, slots) of a sentence of a group (``say``, ``note``, ``goal``), or None where no form says it.

        >>> bank("a").read("say", "Chiller 6 has 2 open orders.")
        ('orders', {'asset': 'Chiller 6', 'count': '2'})
        """
        for kind, form in self._patterns[group]:
            match = form.fullmatch(sentence)
            if match:
                return kind, match.groupdict()
        return None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("At 3.50 kW it runs. Fine?")
    ['At 3.50 kW it runs.', 'Fine?']
    """
    return _SENTENCES.split(text) if text else []


@cache
def bank(name: str) -> Bank:
    """Return a wording bank by name, ``a`` or ``b``."""
    return Bank(yaml.safe_load((files(__package__) / f"wording_{name}.yaml").read_text(encoding="utf-8")))
