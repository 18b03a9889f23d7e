"""The world of the support desk: seven tools, permissive, deterministic, fresh for every run.

Permissive is the choice that everything else rests on (testbed paper, section 3): ``issue_refund`` pays for any order
that exists, checked or not, owned or not, and whatever the amount, as a real payment interface does. Nothing here
stops an agent from breaking the procedure; only the rules say that it did. Without that there would be no silent
faults to measure.

``Desk`` answers in the observation shapes of the published trajectories, with the one currency in the key names
(``total_eur``); ``varied_world`` builds on it.
"""

from __future__ import annotations

from typing import Any

from trajaudit._fields import Json
from trajaudit.testbeds.replay import Arguments
from trajaudit.testbeds.support_desk.instances import Instance, Order, less_fee

TOOLS = ("get_customer", "lookup_order", "get_policy", "check_eligibility", "issue_refund", "escalate", "reply")
_TOOLS = frozenset(TOOLS)


def ruling(order: Order, customer_id: str) -> tuple[str, int]:
    """Return (reason, amount authorised in smallest units) for an order that this customer asks to be refunded.

    This is the desk's truth, from which the expected outcome follows whether or not an agent asks for it.
    """
    if order.owner != customer_id:
        return "other", 0
    if order.status == "refunded":
        return "repaid", 0
    if not order.refundable:
        return "final", 0
    if order.days > order.window:
        return "expired", 0
    return "within", less_fee(order.total, order.fee)


def found(data: Arguments) -> dict[str, Any]:
    """Return the observation of a call that worked."""
    return {"ok": True, "data": data, "error": None}


def failed(error: str) -> dict[str, Any]:
    """Return the observation of a call that did not."""
    return {"ok": False, "data": {}, "error": error}


class Desk:
    """The desk of the paper preset, amounts in euro. What was done to it can be read off after a run.

    ``refunded`` maps an order to what was paid back in all, in smallest units; ``tickets`` holds the arguments of every
    escalation, ``replies`` every text that was sent.
    """

    total, amount, most, paid = "total_eur", "amount_eur", "max_refund_eur", "refunded_eur"

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.orders = {order.order_id: order for order in (*instance.orders, *instance.others)}
        self.refunded: dict[str, int] = {}
        self.tickets: list[Arguments] = []
        self.replies: list[str] = []

    def call(self, tool: str, args: Arguments) -> Json:
        """Answer one call with {ok, data, error}; a call that makes no sense gets an error, never an exception."""
        if tool not in _TOOLS:
            return failed(f"no tool {tool!r}")
        try:
            return getattr(self, tool)(args)
        except KeyError as missing:
            return failed(f"{tool}: argument {missing} is missing")
        except (TypeError, ValueError, ArithmeticError):  # an amount can be a list, or too large for any currency
            return failed(f"{tool}: an argument is of the wrong type")

    def units(self, number: float) -> int:
        """Return a JSON amount in the smallest unit of the currency."""
        return round(number * 100)

    def number(self, units: int) -> float | int:
        """Return an amount in smallest units as JSON shows it."""
        return units / 100

    def reason(self, order: Order, kind: str) -> str:
        if kind == "expired":
            return f"bought {order.days} days ago, the window is {order.window} days"
        return _REASONS[kind]

    def get_customer(self, args: Arguments) -> Json:
        asker = self.instance
        if args["email"] != asker.email:
            return failed(f"no customer with email {args['email']!r}")
        return found({"customer_id": asker.customer_id, "name": asker.name, "phone_last4": asker.phone_last4})

    def lookup_order(self, args: Arguments) -> Json:
        order = self.orders.get(args["order_id"])
        if order is None:
            return failed(f"no order {args['order_id']!r}")
        return found(
            {
                "order_id": order.order_id,
                "customer_id": order.owner,
                "sku": order.sku,
                self.total: self.number(order.total),
                "days_since_purchase": order.days,
                "status": "refunded" if order.order_id in self.refunded else order.status,
            }
        )

    def get_policy(self, args: Arguments) -> Json:
        for order in self.orders.values():
            if order.sku == args["sku"]:
                return found(
                    {
                        "sku": order.sku,
                        "refundable": order.refundable,
                        "refund_window_days": order.window,
                        "restocking_fee_pct": float(order.fee),
                    }
                )
        return failed(f"no policy for sku {args['sku']!r}")

    def check_eligibility(self, args: Arguments) -> Json:
        order = self.orders.get(args["order_id"])
        if order is None:
            return failed(f"no order {args['order_id']!r}")
        kind, most = ruling(order, self.instance.customer_id)
        return found({"eligible": kind == "within", self.most: self.number(most), "reason": self.reason(order, kind)})

    def issue_refund(self, args: Arguments) -> Json:
        order_id, amount = args["order_id"], args[self.amount]
        if order_id not in self.orders:
            return failed(f"no order {order_id!r}")
        self.refunded[order_id] = self.refunded.get(order_id, 0) + self.units(amount)
        return found({self.paid: amount, "status": "refunded"})

    def escalate(self, args: Arguments) -> Json:
        self.tickets.append(args)
        return found({"ticket": "ESC-OPEN", "reason": args["reason"]})

    def reply(self, args: Arguments) -> Json:
        self.replies.append(args["text"])
        return found({"sent": True})


_REASONS = {
    "within": "the policy allows it",
    "final": "the item is excluded from refunds",
    "other": "the order is registered to someone else",
    "repaid": "the order has been refunded before",
}
