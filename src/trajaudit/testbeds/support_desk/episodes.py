"""The support desk for an agent that acts by itself: the same requests and the same desk as in the generated sets.

Instances are taken one after another from the preset's own stream, so episode ``i`` of a seed is the request of
instance ``i``, with the group that the generated runs of that instance would have. The reply ends the episode, whatever
was done before it: an agent that replies too early has stopped too early. The desk is as permissive here as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from trajaudit._fields import Json
from trajaudit.dataset import Procedure
from trajaudit.episode import Ending, Testbed, Tool
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.draw import opaque
from trajaudit.testbeds.support_desk.generator import PRESETS, generate
from trajaudit.testbeds.support_desk.instances import Instance
from trajaudit.testbeds.support_desk.outcome import outcome_correct
from trajaudit.testbeds.support_desk.world import Desk

_TEXT: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_MEANINGS = {
    "get_customer": "Find the customer record behind an email address.",
    "lookup_order": "Show an order: owner, item, total, days since purchase, status.",
    "get_policy": "Show the refund policy of an item.",
    "check_eligibility": "Rule whether an order may be refunded, and up to which amount.",
    "issue_refund": "Pay an amount back on an order.",
    "escalate": "Hand the case to a colleague, saying why.",
    "reply": "Send the customer the answer. This ends the case.",
}
_PARAMETERS: dict[str, dict[str, dict[str, Json]]] = {
    "paper": {
        "get_customer": {"email": _TEXT},
        "lookup_order": {"order_id": _TEXT},
        "get_policy": {"sku": _TEXT},
        "check_eligibility": {"order_id": _TEXT},
        "issue_refund": {"order_id": _TEXT, "amount_eur": _NUMBER},
        "escalate": {"reason": _TEXT},
        "reply": {"text": _TEXT},
    }
}
_PARAMETERS["varied"] = _PARAMETERS["paper"] | {
    "issue_refund": {"order_id": _TEXT, "amount": _NUMBER, "currency": _TEXT},
    "escalate": {"order_id": _TEXT, "reason": _TEXT},
}


def tools(preset: str) -> tuple[Tool, ...]:
    """Return the seven tools of a preset with their parameters as JSON schema."""
    return tuple(
        Tool(name, _MEANINGS[name], {"type": "object", "properties": fields, "required": list(fields), **_CLOSED})
        for name, fields in _PARAMETERS[preset].items()
    )


_CLOSED: dict[str, Json] = {"additionalProperties": False}


class DeskEpisode:
    """One request at a fresh desk."""

    agent: str | None = None
    brief = ""

    def __init__(self, instance: Instance, desk: Desk, offered: tuple[Tool, ...]) -> None:
        self.instance, self.desk, self.tools = instance, desk, offered
        self.id, self.group = f"ep-{opaque(f'{instance.key}|episode')}", f"sd-{opaque(instance.key)}"
        self.task = instance.goal

    @property
    def done(self) -> bool:
        return bool(self.desk.replies)

    def call(self, tool: str, args: dict[str, Json]) -> Json:
        return self.desk.call(tool, args)

    def ending(self, said: str | None) -> Ending:
        """Return the reply that the customer was sent, or else what was said last, and whether the outcome is right."""
        reply = self.desk.replies[-1] if self.done else said
        text = reply if isinstance(reply, str | None) else str(reply)
        return Ending(text, outcome_correct(self.instance, self.desk))


def support_desk(
    *,
    preset: Literal["paper", "varied"] = "varied",
    n: int = 8,
    seed: int = 7,
    wording: Literal["a", "b"] = "a",
    procedure: str = "support_desk",
) -> Testbed:
    """Return the first ``n`` requests of a seed as episodes.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """
    generate(preset, n, seed, wording)
    design, offered = PRESETS[preset], tools(preset)

    def episodes() -> Iterator[DeskEpisode]:
        for number in range(n):
            instance = design.instance(seed, number, wording)
            yield DeskEpisode(instance, design.desk(instance), offered)

    return Testbed(
        *("support_desk", "customer_support", episodes, n),
        *(SUPPORT_DESK, Procedure.named(procedure), "support_desk"),
    )
