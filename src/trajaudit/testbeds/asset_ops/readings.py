"""Sentences as the witness reads them, and whether the conclusion of one follows from the premises it names.

Nothing here looks at a run: a conclusion can be sound about numbers that are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_NAMES = ("asset", "other", "winner", "site", "sensor", "file", "mode", "wo", "bundle", "model", "code")


class Reading(NamedTuple):
    """A sentence: the group of forms it is of (``note``, ``say``, ``text``), its kind, and what fills its slots."""

    group: str
    kind: str
    slots: dict[str, str]

    @property
    def conclusion(self) -> str:
        """What a sentence concludes, so that a repetition of it is known as one."""
        return next((self.slots[name] for name in ("side", "trend", "due", "winner") if name in self.slots), "")


def name_slots(slots: dict[str, str]) -> Iterator[str]:
    """Yield the names in a sentence; a list of agents or a tool is no name of the plant's."""
    for name, value in slots.items():
        if name in _NAMES:
            yield value
        elif name == "items" and value:
            yield from value.split(", ")


def conclusion_holds(reading: Reading) -> bool:
    """Return whether a sentence's conclusion follows from its own premises; true where it has none.

    >>> conclusion_holds(Reading("say", "trend", {"first": "4.10", "last": "3.90", "trend": "rising"}))
    False
    """
    slots = reading.slots
    match reading.kind:
        case "limit" | "side":
            return (slots["side"] == "above") == (float(slots["value"]) > float(slots["limit"]))
        case "trend":
            return (slots["trend"] == "rising") == (float(slots["last"]) > float(slots["first"]))
        case "decision":
            return (slots["due"] == "needed") == (int(slots["count"]) >= int(slots["limit"]))
        case "compare":
            a, b = float(slots["a"]), float(slots["b"])
            winner = slots["asset"] if a > b else slots["other"]
            ahead = 100 * (max(a, b) / min(a, b) - 1)
            return slots["winner"] == winner and abs(ahead - float(slots["pct"])) < 0.06
    return True
