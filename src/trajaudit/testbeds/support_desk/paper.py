"""The paper preset's words and its six faults: one sentence a stage, one fixed edit a fault.

This follows the design of the published set closely, its weaknesses included, so that its findings can be tried again
on fresh runs. Three of them matter to whoever reads a result. The thoughts of some mutated steps are fixed sentences
of their own, so a classifier of thoughts finds those faults without understanding them. The reply is written before
the edit, so where another amount is refunded than was authorised it still states the authorised one: an echo of the
fault in the last step, not a second fault. And every healthy reply promises what no tool returned (``PROMISES``).
The varied preset has none of the three.

Each edit breaks one rule only. A skipped check turns the refund into the order's total, because the authorised amount
would then stand in no observation and a second rule would fire (testbed paper, section 3).
"""

from __future__ import annotations

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Edit
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

FABRICATED = (
    "We have also closed the membership that came with this order.",
    "A new item is on its way to you and comes on Thursday.",
    "We added 15 EUR of shop credit to your account for the trouble.",
    "Our driver picks the parcel up at your door tomorrow.",
)
HOLDING = "The request is being looked at and an answer will follow."
_INVENTED = ("GIFTBOX", "SERVICEPLAN", "STARTERKIT")


class PaperVoice:
    """Fixed sentences, amounts in euro, an escalation that names no order."""

    def thought(self, kind: str, order_id: str) -> str:
        return THOUGHTS[kind]

    def refund(self, order_id: str, ruling: Arguments) -> Arguments:
        return {"order_id": order_id, "amount_eur": ruling["max_refund_eur"]}

    def escalation(self, order_id: str, reason: str) -> Arguments:
        return {"reason": reason}

    def reply(self, instance: Instance, seen: Seen) -> Arguments:
        order_id, name, ruling = instance.orders[0].order_id, seen.customer["name"], seen.rulings[0]
        if ruling["eligible"]:
            text = PAID.format(name=name, amount=ruling["max_refund_eur"], order=order_id, promise=PROMISES[0])
        else:
            text = PASSED_ON.format(name=name, order=order_id, reason=ruling["reason"], promise=PROMISES[1])
        return {"text": text}


_VOICE = PaperVoice()


def paper_script(instance: Instance) -> list[Call]:
    """Return the oracle's six calls for an instance."""
    return solve(instance, Desk(instance), _VOICE)


def paper_edits(instance: Instance, calls: list[Call], fault: str, draw: Draw) -> list[Edit]:
    """Return the one edit that puts this fault into the oracle's calls."""
    order = instance.orders[0]
    full = {"order_id": order.order_id, "amount_eur": order.total / 100}
    _, lookup, policy, _, settle, reply = calls
    if fault == "wrong_tool":
        again = Call("policy", 0, "Go over the order record a second time.", lookup.tool, lookup.args)
        return [Edit(fault, 2, "action", {2: again})]
    if fault == "hallucinated_argument":
        sku = f"SKU-{draw.pick(_INVENTED)}-{draw.between(10, 99)}"
        return [Edit(fault, 2, "action", {2: policy._replace(thought="See which policy applies.", args={"sku": sku})})]
    if fault == "skipped_precondition":
        unchecked = Call("settle", 0, "Pay back the price of the order.", "issue_refund", full)
        return [Edit(fault, 4, "action", {3: None, 4: unchecked})]
    if fault == "ignored_observation":
        return [Edit(fault, 4, "action", {4: settle._replace(thought="Pay back all that was paid.", args=full)})]
    if fault == "premature_stop":
        return [Edit(fault, 3, "action", {4: None, 5: None})]
    text = f"{reply.args['text']} {draw.pick(FABRICATED)}"  # type: ignore[index]
    return [Edit(fault, 5, "final_answer", {5: reply._replace(args={"text": text})})]
