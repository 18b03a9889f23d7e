"""Instances of the varied preset: one to three orders, several currencies, detours, and nothing that goes with a fault.

Instances come in pairs, and a pair carries each of the six faults once: three on each instance, beside its clean run.
So every goal, name, locale, detour and wording occurs with one clean run and three faulty ones, and nothing that is
the same in all runs of an instance can tell them apart. The first of a pair has an eligible target order, since
``skipped_precondition`` needs one; the second has an ineligible one. Everything else is drawn without regard to that.
"""

from __future__ import annotations

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.support_desk.instances import ELIGIBLE, STRATA, Instance, Note, Order, facts
from trajaudit.testbeds.support_desk.locales import CODES, LOCALES
from trajaudit.testbeds.support_desk.varied_world import CATALOGUE
from trajaudit.testbeds.support_desk.wording import bank

INELIGIBLE = STRATA[2:]
PAYOUT_DAYS = (2, 3, 5, 7, 10)
RESPONSE_HOURS = (4, 8, 24, 36, 48)
QUEUES = ("Returns", "Billing", "Order Review", "Customer Care", "Warehouse")
_ANY = (*ELIGIBLE, *STRATA)
_OWN = tuple(stratum for stratum in STRATA if stratum != "other_customer")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
NOTES: dict[str, tuple[str | int, ...]] = {
    "voucher": (5, 10, 15, 20, 25),
    "replacement": _DAYS,
    "pickup": _DAYS,
    "subscription": ("paused", "cancelled", "active", "renewed"),
    "warranty": (6, 12, 18, 24, 36),
}
"""What a record may say beside the order itself. All kinds and values are equally likely, which is what makes a
fabricated one look like any other."""

OUTAGE, AGAIN, EXTRA = 0.35, 0.4, 0.5
"""How often a run has each harmless detour, clean or faulty (an extra lookup needs a further order to look up)."""

Schedule = list[tuple[str, int | None]]


def target_stratum(number: int) -> str:
    """Return the stratum of the target order: eligible for even instances, ineligible for odd ones, in turn."""
    pair = number // 2
    return INELIGIBLE[pair % 4] if number % 2 else ELIGIBLE[pair // 4 % 2]


def varied_instance(seed: int, number: int, wording: str) -> Instance:
    """Return instance ``number`` of the varied preset in a wording bank."""
    key = f"varied|{wording}|{seed}|{number}"
    draw = Draw(key)
    locale = draw.pick(CODES)
    place = LOCALES[locale]
    first, last = draw.pick(place.first), draw.pick(place.last)
    email = f"{first}.{last}{draw.between(10, 99)}@example.com".lower()
    customer_id = f"CUS-{draw.between(10_000, 54_999)}"
    count, more = draw.pick((1, 1, 2, 3)), draw.pick((0, 1, 2))
    target = draw.below(count)
    strata = [draw.pick(_ANY) for _ in range(count)] + [draw.pick(_OWN) for _ in range(more)]
    strata[target] = target_stratum(number)
    orders = _orders(draw, strata, customer_id, place.scale)
    asked = orders[:count]
    words = bank(wording)
    ask = words.say("goal.ask", draw, email=email, orders=words.naming([order.order_id for order in asked]))
    goal = f"{ask} {words.say('goal.duty', draw)} {words.say('goal.end', draw)}"
    schedule, outages = _schedule(draw, asked, target, email, more > 0)
    return Instance(
        key,
        customer_id,
        f"{first} {last}",
        email,
        f"{draw.below(10_000):04d}",
        asked,
        goal,
        schedule,
        target,
        orders[count:],
        outages,
        tuple((i, draw.pick(order.notes).kind) for i, order in enumerate(asked) if order.notes),
        locale,
        wording,
    )


def _orders(draw: Draw, strata: list[str], customer_id: str, scale: int) -> tuple[Order, ...]:
    """Draw one order for each stratum, all different in number and article."""
    skus = draw.shuffled(CATALOGUE)
    serial, step = draw.between(10_000, 99_999), draw.between(1, 20_000)
    return tuple(
        Order(
            f"ORD-{10_000 + (serial + i * step) % 90_000}",
            f"CUS-{draw.between(55_000, 99_999)}" if stratum == "other_customer" else customer_id,
            skus[i],
            draw.between(2_500, 48_000) * scale,
            *facts(draw, stratum),
            stratum,
            _notes(draw),
            draw.pick(PAYOUT_DAYS),
            draw.pick(QUEUES),
            draw.pick(RESPONSE_HOURS),
        )
        for i, stratum in enumerate(strata)
    )


def _notes(draw: Draw) -> tuple[Note, ...]:
    """Draw the notes of a record: none for four in ten, else one to three kinds."""
    if draw.chance(0.4):
        return ()
    kinds = draw.shuffled(tuple(NOTES))[: draw.between(1, 3)]
    return tuple(Note(kind, draw.pick(NOTES[kind])) for kind in kinds)


def _schedule(
    draw: Draw, orders: tuple[Order, ...], target: int, email: str, has_more: bool
) -> tuple[tuple[tuple[str, int | None], ...], frozenset[tuple[str, str]]]:
    """Return the stages of a run with its detours, and its outages.

    The orders are dealt with one after another, or stage by stage. No detour touches the policy and the check of the
    target order: a wrong call that stands instead of the policy must stay apart from a harmless one that stands
    beside it, and a check that is left out must take no detour with it.
    """
    stages, places = ("lookup", "policy", "check", "settle"), range(len(orders))
    by_order = [(stage, i) for i in places for stage in stages]
    by_stage = [(stage, i) for stage in stages for i in places]
    plan: Schedule = [("verify", None), *(by_order if draw.chance(0.5) else by_stage), ("reply", None)]
    fixed = (("policy", target), ("check", target))
    reads = [entry for entry in plan if entry[0] not in ("settle", "reply") and entry not in fixed]
    outages = frozenset({_outage(draw.pick(reads), orders, email)} if draw.chance(OUTAGE) else ())
    if draw.chance(AGAIN):
        stage, i = draw.pick(reads)
        end = plan.index(("settle", i)) if i is not None else len(plan) - 1
        plan.insert(draw.between(plan.index((stage, i)) + 1, end), (f"again.{stage}", i))
    if has_more and draw.chance(EXTRA):
        plan.insert(draw.between(1, len(plan) - 1), ("extra", None))
    return tuple(plan), outages


def _outage(entry: tuple[str, int | None], orders: tuple[Order, ...], email: str) -> tuple[str, str]:
    """Return the (tool, subject) whose first call fails, for one read of the plan."""
    stage, i = entry
    if i is None:
        return "get_customer", email
    if stage == "policy":
        return "get_policy", orders[i].sku
    return "lookup_order" if stage == "lookup" else "check_eligibility", orders[i].order_id
