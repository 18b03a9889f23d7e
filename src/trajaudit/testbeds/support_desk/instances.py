"""Instances: what is true of a request before the agent starts, and what its outcome has to be.

The stratum of an order decides its expected outcome and is fixed by construction; the world knows only the facts
behind it (owner, age, policy, status) and works the rest out. Amounts are integers in the currency's smallest unit,
and a fee is rounded half up in that unit, so no outcome depends on floating point.

The paper preset draws one order an instance, its stratum being the instance number modulo six (testbed paper, section
3: six strata in turn from one seeded stream). Order and customer numbers are drawn, not counted up: a number that
grows with the instance would give away which faults an instance can have.
"""

from __future__ import annotations

from typing import NamedTuple

from trajaudit.testbeds.draw import Draw

STRATA = ("full_refund", "restocking_fee", "expired_window", "non_refundable", "other_customer", "already_refunded")
ELIGIBLE = STRATA[:2]

_FIRST = (
    *("Agnes", "Bruno", "Carla", "Dario", "Elif", "Fergus", "Gita", "Henrik", "Ines", "Joris", "Katya", "Lorenz"),
    *("Mirela", "Nils", "Oona", "Pavel", "Rosa", "Stefan", "Tessa", "Umar", "Vera", "Wim", "Yara", "Zoltan"),
)
_LAST = (
    *("Adler", "Brandt", "Castell", "Dumont", "Eriksen", "Farkas", "Gallo", "Hofer", "Ivanov", "Jansen", "Keller"),
    *("Lindt", "Moreau", "Nagy", "Olsen", "Pereira", "Quint", "Rossi", "Sauer", "Toth", "Urban", "Visser", "Weiss"),
)
SKUS = ("SKU-KETTLE-05", "SKU-ROUTER-19", "SKU-BACKPACK-33", "SKU-MONITOR-58", "SKU-HEATER-74", "SKU-DRILL-90")
WINDOWS = (14, 30, 60)
FEES = (5, 10, 15)


class Note(NamedTuple):
    """Something else that the desk's records say of an order, such as a courier that is booked for Tuesday."""

    kind: str
    value: str | int


class Order(NamedTuple):
    """One order: ``total`` in the smallest unit of its currency, ``days`` since purchase, and its item's policy.

    The last four belong to the varied preset: notes on the record, how long a refund takes to arrive, who takes an
    escalation over, and within how many hours they answer.
    """

    order_id: str
    owner: str
    sku: str
    total: int
    days: int
    status: str
    refundable: bool
    window: int
    fee: int
    stratum: str
    notes: tuple[Note, ...] = ()
    payout_days: int = 0
    queue: str = ""
    response_hours: int = 0


class Instance(NamedTuple):
    """One request: who asks (``email``, ``name``), for which ``orders``, in which words (``goal``).

    ``key`` seeds everything that is drawn for this instance; ``target`` is the position of the order that faults go
    to; ``schedule`` lists the stages of a healthy run as (stage, order position). The rest is used by the varied
    preset alone: ``others`` are orders of the customer that the request does not name, ``outages`` the (tool, subject)
    pairs whose first call fails, ``mentions`` the (order position, note kind) pairs that the reply brings up,
    ``locale`` how money is written, and ``wording`` the bank that everything is said in.
    """

    key: str
    customer_id: str
    name: str
    email: str
    phone_last4: str
    orders: tuple[Order, ...]
    goal: str
    schedule: tuple[tuple[str, int | None], ...]
    target: int = 0
    others: tuple[Order, ...] = ()
    outages: frozenset[tuple[str, str]] = frozenset()
    mentions: tuple[tuple[int, str], ...] = ()
    locale: str = ""
    wording: str = ""


def facts(draw: Draw, stratum: str) -> tuple[int, str, bool, int, int]:
    """Return (days, status, refundable, window, fee) of an order of this stratum."""
    which, fee, late = draw.digits(len(WINDOWS), len(FEES), 45)
    window = WINDOWS[which]
    days = window + 1 + late if stratum == "expired_window" else 1 + draw.below(window)
    status = "refunded" if stratum == "already_refunded" else "delivered"
    return days, status, stratum != "non_refundable", window, FEES[fee] if stratum == "restocking_fee" else 0


def less_fee(total: int, fee: int) -> int:
    """Return what is paid back of ``total`` after a fee in per cent, rounded half up to the smallest unit.

    >>> less_fee(6319, 5)  # 63.19 less 5 % is 60.0305
    6003
    """
    return (total * (100 - fee) + 50) // 100


PAPER_SCHEDULE: tuple[tuple[str, int | None], ...] = (
    ("verify", None),
    ("lookup", 0),
    ("policy", 0),
    ("check", 0),
    ("settle", 0),
    ("reply", None),
)
_RADICES = (len(_FIRST), len(_LAST), 90, 90_000, 90_000, len(SKUS), 45_501, 10_000)


def paper_instance(seed: int, number: int) -> Instance:
    """Return instance ``number`` of the paper preset: one order, stratum ``number`` modulo six, amounts in euro."""
    key = f"paper|{seed}|{number}"
    draw = Draw(key)
    stratum = STRATA[number % 6]
    first, last, suffix, serial, order_number, sku, total, phone = draw.digits(*_RADICES)
    name = f"{_FIRST[first]} {_LAST[last]}"
    email = f"{name.replace(' ', '.').lower()}{10 + suffix}@example.com"
    customer_id = owner = f"CUS-{10_000 + serial}"
    if stratum == "other_customer":
        owner = f"CUS-{10_000 + (serial + draw.between(1, 80_000)) % 90_000}"
    days, status, refundable, window, fee = facts(draw, stratum)
    order = Order(
        f"ORD-{10_000 + order_number}",
        *(owner, SKUS[sku], 2_500 + total, days, status, refundable, window, fee, stratum),
    )
    return Instance(
        key,
        customer_id,
        name,
        email,
        f"{phone:04d}",
        (order,),
        _paper_goal(email, order.order_id),
        PAPER_SCHEDULE,
    )


def _paper_goal(email: str, order_id: str) -> str:
    return (
        f"{email} wants the money back for order {order_id}. Establish who is asking, find out what the policy of "
        "the item says, have the eligibility of the order checked, and then pay back what is allowed or hand the case "
        "over. Tell the customer how it ended."
    )
