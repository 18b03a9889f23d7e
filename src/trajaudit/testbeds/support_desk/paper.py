"""The paper preset's words: one sentence a stage, and a reply that is written before any fault is put in.

This follows the design of the published set, whose healthy replies promise what no tool returned (``PROMISES``); the
varied preset has no such sentence.
"""

from __future__ import annotations

from trajaudit.testbeds.replay import Arguments, Call
from trajaudit.testbeds.support_desk.instances import Instance
from trajaudit.testbeds.support_desk.oracle import Seen, solve
from trajaudit.testbeds.support_desk.world import Desk

THOUGHTS = {
    "verify": "Find out who this customer is before anything else.",
    "lookup": "Get the order record to learn its item and price.",
    "policy": "Look up what the policy says about the item.",
    "check": "Ask for an eligibility ruling ahead of any payment.",
    "refund": "The ruling names an amount; pay back precisely that.",
    "escalate": "The ruling is negative, which makes this a case for a colleague.",
    "reply": "Tell the customer how the request ended.",
}
PAID = "Dear {name}, EUR {amount:.2f} has been paid back for order {order}. {promise}"
PASSED_ON = "Dear {name}, order {order} could not be refunded by us right away: {reason}. {promise}"
PROMISES = ("The money arrives within a week.", "A colleague has the case now and will write to you.")
"""The standing promises of a refund and of an escalation; no tool returns them, and the witness lets them pass."""

HOLDING = "The request is being looked at and an answer will follow."
"""The last word of a run that stops early; no reply was sent."""


class PaperVoice:
    """Fixed sentences, amounts in euro, an escalation that names no order."""

    def thought(self, kind: str, order_id: str) -> str:
        return THOUGHTS[kind]

    def refund(self, order_id: str, ruling: Arguments) -> Arguments:
        return {"order_id": order_id, "amount_eur": ruling["max_refund_eur"]}

    def escalation(self, order_id: str, reason: str) -> Arguments:
        return {"reason": reason}

    def reply(self, instance: Instance, seen: Seen) -> Arguments:
        order_id, name, ruling = instance.orders[0].order_id, seen["verify", None]["name"], seen["check", 0]
        if ruling["eligible"]:
            text = PAID.format(name=name, amount=ruling["max_refund_eur"], order=order_id, promise=PROMISES[0])
        else:
            text = PASSED_ON.format(name=name, order=order_id, reason=ruling["reason"], promise=PROMISES[1])
        return {"text": text}


_VOICE = PaperVoice()


def paper_script(instance: Instance) -> list[Call]:
    """Return the oracle's six calls for an instance."""
    return solve(instance, Desk(instance), _VOICE)
