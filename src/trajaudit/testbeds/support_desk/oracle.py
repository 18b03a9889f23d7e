"""The oracle: the scripted agent that keeps the procedure on every request and reaches its outcome.

It knows the request and what tools have answered, and nothing of the instance behind them: the article comes from the
order record, the amount from the eligibility check. That it breaks no rule and reaches the expected outcome on every
instance is computed by a test, not assumed (testbed paper, section 3); every faulty run starts from its calls.

How it speaks and spells its arguments is a ``Voice``, so that the paper's fixed sentences and the varied grammars
share one script.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trajaudit.testbeds.replay import Arguments, Call, Environment, Late
from trajaudit.testbeds.support_desk.instances import Instance

Seen = dict[tuple[str, int | None], Arguments]
"""What tools have answered, by stage and order: ``("verify", None)``, ``("lookup", 0)``, ``("check", 0)``, …"""


class Voice(Protocol):
    """The words and argument names of one preset."""

    def thought(self, kind: str, order_id: str) -> str:
        """Return what the agent thinks before a step; ``kind`` is a stage, or ``refund`` or ``escalate`` to settle."""

    def refund(self, order_id: str, ruling: Arguments) -> Arguments: ...

    def escalation(self, order_id: str, reason: str) -> Arguments: ...

    def reply(self, instance: Instance, seen: Seen) -> Arguments | Late:
        """Return the arguments of the reply, or a function that composes them from the steps as they happened."""


def solve(instance: Instance, desk: Environment, voice: Voice) -> list[Call]:
    """Carry out the procedure in a fresh ``desk`` as far as its answers matter, and return the calls of the whole run.

    A call that fails is made once more, as the harmless detour that a passing outage causes.
    """
    seen: Seen = {}
    calls: list[Call] = []
    for stage, place in instance.schedule:
        order_id = instance.orders[place or 0].order_id
        if stage == "reply":
            calls.append(Call(stage, None, voice.thought(stage, order_id), "reply", voice.reply(instance, seen)))
            continue
        kind = stage
        if stage == "settle":
            kind = "refund" if seen["check", place]["eligible"] else "escalate"
        tool, args = _REQUESTS[kind](instance, seen, place, voice)
        calls.append(Call(stage, place, voice.thought(kind, order_id), tool, args))
        if stage == "settle":
            continue  # nothing that the oracle does later depends on the answer
        answer = desk.call(tool, args)
        if not answer["ok"]:
            calls.append(Call(f"retry.{stage}", place, voice.thought("retry", order_id), tool, args))
            answer = desk.call(tool, args)
        seen[stage, place] = answer["data"]
    return calls


Request = tuple[str, Arguments]


def _verify(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "get_customer", {"email": instance.email}


def _lookup(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "lookup_order", {"order_id": instance.orders[place or 0].order_id}


def _policy(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "get_policy", {"sku": seen["lookup", place]["sku"]}


def _check(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "check_eligibility", {"order_id": instance.orders[place or 0].order_id}


def _refund(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "issue_refund", voice.refund(instance.orders[place or 0].order_id, seen["check", place])


def _escalate(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    return "escalate", voice.escalation(instance.orders[place or 0].order_id, seen["check", place]["reason"])


def _extra(instance: Instance, seen: Seen, place: int | None, voice: Voice) -> Request:
    """Look at an order that the customer's record lists and the request does not name."""
    asked = {order.order_id for order in instance.orders}
    return "lookup_order", {"order_id": next(i for i in seen["verify", None]["orders"] if i not in asked)}


_REQUESTS: dict[str, Callable[[Instance, Seen, int | None, Voice], Request]] = {
    "verify": _verify,
    "lookup": _lookup,
    "policy": _policy,
    "check": _check,
    "again.verify": _verify,
    "again.lookup": _lookup,
    "again.policy": _policy,
    "again.check": _check,
    "extra": _extra,
    "refund": _refund,
    "escalate": _escalate,
}
