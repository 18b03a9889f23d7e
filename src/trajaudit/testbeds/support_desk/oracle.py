"""The oracle: the scripted agent that keeps the procedure on every request and reaches its outcome.

It knows the request and what tools have answered, and nothing of the instance behind them: the article comes from the
order record, the amount from the eligibility check. That it breaks no rule and reaches the expected outcome on every
instance is computed by a test, not assumed (testbed paper, section 3); every faulty run starts from its calls.

How it speaks and spells its arguments is a ``Voice``, so that the paper's fixed sentences and the varied grammars
share one script.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from trajaudit._fields import Json
from trajaudit.testbeds.replay import Arguments, Call, Environment, Late
from trajaudit.testbeds.support_desk.instances import Instance


@dataclass(slots=True)
class Seen:
    """What tools have answered so far: the customer, and for each requested order its record and its ruling."""

    customer: Arguments = field(default_factory=dict)
    records: dict[int, Arguments] = field(default_factory=dict)
    rulings: dict[int, Arguments] = field(default_factory=dict)


class Voice(Protocol):
    """The words and argument names of one preset."""

    def thought(self, kind: str, order_id: str) -> str:
        """Return what the agent thinks before a step; ``kind`` is a stage, or ``refund`` or ``escalate`` to settle."""

    def refund(self, order_id: str, ruling: Arguments) -> Arguments: ...

    def escalation(self, order_id: str, reason: str) -> Arguments: ...

    def reply(self, instance: Instance, seen: Seen) -> Arguments | Late:
        """Return the arguments of the reply, or a function that composes them from the steps as they happened."""


def solve(instance: Instance, desk: Environment, voice: Voice) -> list[Call]:
    """Carry out the procedure in a fresh ``desk`` and return the calls that were made.

    A call that fails is made once more, as the harmless detour that a passing outage causes.
    """
    seen = Seen()
    calls: list[Call] = []
    for stage, place in instance.schedule:
        order_id = instance.orders[place or 0].order_id
        kind = stage
        if stage == "reply":
            calls.append(Call(stage, None, voice.thought(kind, order_id), "reply", voice.reply(instance, seen)))
            continue
        if stage == "settle":
            kind = "refund" if seen.rulings[place or 0]["eligible"] else "escalate"
        tool, args = _request(kind, place, instance, seen, voice)
        calls.append(Call(stage, place, voice.thought(kind, order_id), tool, args))
        answer = desk.call(tool, args)
        if not answer["ok"]:
            calls.append(Call(f"retry.{stage}", place, voice.thought("retry", order_id), tool, args))
            answer = desk.call(tool, args)
        _remember(seen, stage, place, answer["data"])
    return calls


def _request(kind: str, place: int | None, instance: Instance, seen: Seen, voice: Voice) -> tuple[str, Arguments]:
    """Return the tool and arguments of a stage, from the request and what was seen."""
    order_id = instance.orders[place or 0].order_id
    match kind.removeprefix("again."):
        case "verify":
            return "get_customer", {"email": instance.email}
        case "lookup":
            return "lookup_order", {"order_id": order_id}
        case "policy":
            return "get_policy", {"sku": seen.records[place or 0]["sku"]}
        case "check":
            return "check_eligibility", {"order_id": order_id}
        case "refund":
            return "issue_refund", voice.refund(order_id, seen.rulings[place or 0])
        case "escalate":
            return "escalate", voice.escalation(order_id, seen.rulings[place or 0]["reason"])
        case "extra":
            asked = {order.order_id for order in instance.orders}
            return "lookup_order", {"order_id": next(i for i in seen.customer["orders"] if i not in asked)}
    raise ValueError(f"schedule: unknown stage {kind!r}")


def _remember(seen: Seen, stage: str, place: int | None, data: Json) -> None:
    if stage == "verify":
        seen.customer = data
    elif stage == "lookup":
        seen.records[place or 0] = data
    elif stage == "check":
        seen.rulings[place or 0] = data
