"""The outcome a customer sees, worked out from the state of the world after a run.

Right means: every order of the request was paid back exactly what is due and not escalated, or was escalated and not
paid where nothing is due, and the customer was told something. What the customer was told is not read any further: a
reply that claims too much leaves the outcome right (testbed paper, section 3), which is what makes an unsupported
claim a silent fault.
"""

from __future__ import annotations

from trajaudit.testbeds.support_desk.instances import Instance
from trajaudit.testbeds.support_desk.world import Desk, ruling


def outcome_correct(instance: Instance, desk: Desk) -> bool:
    """Return whether ``desk`` was left in the state that the instance expects."""
    if not desk.replies:
        return False
    for order in instance.orders:
        kind, due = ruling(order, instance.customer_id)
        escalated = any(ticket.get("order_id", order.order_id) == order.order_id for ticket in desk.tickets)
        if desk.refunded.get(order.order_id, 0) != due or escalated != (kind != "within"):
            return False
    return True
