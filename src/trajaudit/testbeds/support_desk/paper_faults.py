"""The six faults of the paper preset: one fixed edit each, as in the published set, its weaknesses included.

Two of them matter to whoever reads a result. The thoughts of most mutated steps are fixed sentences of their own, so
a classifier of thoughts finds those faults without understanding them. And the reply was written before the edit, so
where another amount is refunded than was authorised it still states the authorised one: an echo of the fault in the
last step, which is neither labelled nor a fault of its own. The varied preset has neither.

Each edit breaks one rule only. A skipped check turns the refund into the order's total, because the authorised amount
would then stand in no observation and a second rule would fire (testbed paper, section 3).
"""

from __future__ import annotations

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Call, Edit
from trajaudit.testbeds.support_desk.instances import Instance

FABRICATED = (
    "We have also closed the membership that came with this order.",
    "A new item is on its way to you and comes on Thursday.",
    "We added 15 EUR of shop credit to your account for the trouble.",
    "Our driver picks the parcel up at your door tomorrow.",
)
_INVENTED = ("GIFTBOX", "SERVICEPLAN", "STARTERKIT")


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
