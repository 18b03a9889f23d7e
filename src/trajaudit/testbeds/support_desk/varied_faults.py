"""The six faults of the varied preset: several ways to commit each, all of them edits that leave the words alone.

An edit changes what the agent does and never what it thinks. Where a call is left out, its thought is said with a
neighbouring one, as an agent does that thinks of a check and does not make it; so the thoughts of a faulty run, read
in order, are those of its clean twin to the letter. Where a call is invented, it stands in place of another one, so a
run is as long as its twin except where the fault is that something is missing.

Which order an edit goes to is part of the instance (its ``target``), and the target's stratum is what makes a fault
possible; nothing else is looked at. Whether a fault is silent or loud is left to the replay.
"""

from __future__ import annotations

from collections.abc import Callable

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Edit, LateThought
from trajaudit.testbeds.support_desk.instances import ELIGIBLE, Instance, Order
from trajaudit.testbeds.support_desk.locales import LOCALES, to_number
from trajaudit.testbeds.support_desk.varied import Lie, VariedVoice, composed
from trajaudit.testbeds.support_desk.varied_instances import NOTES, PAYOUT_DAYS, QUEUES, RESPONSE_HOURS
from trajaudit.testbeds.support_desk.varied_world import CATALOGUE, reason_of
from trajaudit.testbeds.support_desk.world import ruling

_LONGEST_CUT = 4
"""A run that stops early lacks at most this many calls, so that no thought grows to the size of a plan."""


def varied_edits(instance: Instance, calls: list[Call], fault: str, draw: Draw) -> list[Edit]:
    """Return the edits that would each put this fault into the oracle's calls: none where it cannot be committed."""
    return _FAULTS[fault](instance, calls, draw)


def _position(calls: list[Call], stage: str, place: int | None) -> int:
    return next(i for i, call in enumerate(calls) if call.stage == stage and call.subject == place)


def _joined(*thoughts: str | LateThought | None) -> str | None:
    """Return thoughts said together; those of this preset are all plain text."""
    return " ".join(thought for thought in thoughts if isinstance(thought, str)) or None


def _with(call: Call, **args: object) -> Call:
    """Return the call with some of its (plain) arguments replaced."""
    assert isinstance(call.args, dict)
    return call._replace(args={**call.args, **args})


def _hallucinated(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """An invented article for the policy, an invented amount, or a read beside the needed one, of nothing known."""
    policy = _position(calls, "policy", instance.target)
    calls_instead = {policy: _with(calls[policy], sku=_invented_sku(instance, draw))}
    settle = _position(calls, "settle", instance.target)
    if calls[settle].tool == "issue_refund":
        calls_instead[settle] = _with(calls[settle], amount=_invented_amount(instance, draw))
    for i, call in enumerate(calls):
        if not call.stage.startswith(("again", "extra")):
            continue
        if call.tool == "get_customer":
            calls_instead[i] = _with(call, email=instance.email.replace("@", f"{draw.between(1, 9)}@"))
        elif call.tool == "get_policy":
            calls_instead[i] = _with(call, sku=_invented_sku(instance, draw))
        else:
            calls_instead[i] = _with(call, order_id=_invented_order(instance, draw))
    return [Edit("hallucinated_argument", i, "action", {i: call}) for i, call in calls_instead.items()]


def _invented_sku(instance: Instance, draw: Draw) -> str:
    """Return an article that this run never shows: another one of the catalogue, or a number that does not exist."""
    known = {order.sku for order in (*instance.orders, *instance.others)}
    real = draw.pick([sku for sku in CATALOGUE if sku not in known])
    family, _, number = draw.pick((real, instance.orders[instance.target].sku)).partition("-")
    invented = f"{family}-{1000 + (int(number) + draw.between(1, 8999)) % 9000}"
    return real if draw.chance(0.5) or invented in CATALOGUE else invented


def _invented_order(instance: Instance, draw: Draw) -> str:
    known = {order.order_id for order in (*instance.orders, *instance.others)}
    numbers = (10_000 + (int(instance.orders[0].order_id[4:]) + draw.between(1, 89_999)) % 90_000 for _ in range(99))
    return next(order_id for number in numbers if (order_id := f"ORD-{number}") not in known)


def _invented_amount(instance: Instance, draw: Draw) -> float | int:
    """Return an amount within a fifth of the right one that is no number this run has shown."""
    digits = LOCALES[instance.locale].digits
    _, due = ruling(instance.orders[instance.target], instance.customer_id)
    known = {n for order in (*instance.orders, *instance.others) for n in _shown(instance, order)}
    while True:
        step = draw.between(1, max(1, due // 5))
        units = due + step if draw.chance(0.5) else due - step
        if (amount := to_number(units, digits)) not in known:
            return amount


def _shown(instance: Instance, order: Order) -> list[float]:
    """Return every number that a tool may have shown of an order."""
    digits = LOCALES[instance.locale].digits
    amounts = [to_number(units, digits) for units in (order.total, ruling(order, instance.customer_id)[1])]
    others = (order.days, order.window, order.fee, order.payout_days, order.response_hours)
    return [*amounts, *others, *(note.value for note in order.notes if isinstance(note.value, int))]


def _wrong_tool(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """A read that was made already, or the check ahead of its time, stands where the policy should have been read."""
    order = instance.orders[instance.target]
    policy = _position(calls, "policy", instance.target)
    instead: tuple[tuple[str, Arguments], ...] = (
        ("get_customer", {"email": instance.email}),
        ("lookup_order", {"order_id": order.order_id}),
        ("check_eligibility", {"order_id": order.order_id}),
    )
    edits = []
    for tool, args in instead:
        changes: dict[int, Call | None] = {policy: calls[policy]._replace(tool=tool, args=args)}
        if tool == "check_eligibility":  # which makes a check, so no other edit may leave the real one out
            check = _position(calls, "check", instance.target)
            changes[check] = calls[check]
        edits.append(Edit("wrong_tool", policy, "action", changes))
    return edits


def _skipped(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """The check is left out, and the price of the order refunded: the one amount that was seen."""
    order = instance.orders[instance.target]
    if order.stratum not in ELIGIBLE:
        return []
    check, settle = (_position(calls, stage, instance.target) for stage in ("check", "settle"))
    total = to_number(order.total, LOCALES[instance.locale].digits)
    changes: dict[int, Call | None] = {check: None, settle: _with(calls[settle], amount=total)}
    after = changes.get(check + 1) or calls[check + 1]
    changes[check + 1] = after._replace(thought=_joined(calls[check].thought, after.thought))
    return [Edit("skipped_precondition", settle, "action", changes)]


def _ignored(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """The price is refunded though less, or nothing, was authorised; or an order is handed on that was authorised."""
    order = instance.orders[instance.target]
    settle = _position(calls, "settle", instance.target)
    place = LOCALES[instance.locale]
    _, due = ruling(order, instance.customer_id)
    instead: list[tuple[str, Arguments]] = []
    if order.stratum != "other_customer" and due != order.total:
        total = to_number(order.total, place.digits)
        instead.append(("issue_refund", {"order_id": order.order_id, "amount": total, "currency": place.currency}))
    if order.stratum in ELIGIBLE:
        escalation = VariedVoice(instance).escalation(order.order_id, reason_of(instance, order))
        instead.append(("escalate", escalation))
    return [
        Edit("ignored_observation", settle, "action", {settle: calls[settle]._replace(tool=tool, args=args)})
        for tool, args in instead
    ]


def _premature(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """The last one to four calls are left out; what they were meant for is still thought."""
    edits = []
    for cut in range(1, min(_LONGEST_CUT, len(calls) - 2) + 1):
        last = len(calls) - 1 - cut
        thought = _joined(*(call.thought for call in calls[last:]))
        removed: dict[int, Call | None] = dict.fromkeys(range(last + 1, len(calls)))
        edits.append(Edit("premature_stop", last, "action", {last: calls[last]._replace(thought=thought), **removed}))
    return edits


def _unsupported(instance: Instance, calls: list[Call], draw: Draw) -> list[Edit]:
    """One sentence of the reply states another value than was observed, or another note than is on record."""
    reply = len(calls) - 1
    lies: list[Lie] = []
    for place, order in enumerate(instance.orders):
        if ruling(order, instance.customer_id)[0] == "within":
            lies.append(_other(place, "payout", PAYOUT_DAYS, order.payout_days, draw))
        else:
            lies.append(_other(place, "escalated", QUEUES, order.queue, draw))
            lies.append(_other(place, "response", RESPONSE_HOURS, order.response_hours, draw))
    for place, kind in instance.mentions:
        notes = {note.kind: note.value for note in instance.orders[place].notes}
        absent = draw.pick([other for other in NOTES if other not in notes])
        lies.append(Lie(place, kind, absent, draw.pick(NOTES[absent])))
        lies.append(_other(place, kind, NOTES[kind], notes[kind], draw))
    edits = []
    for lie in lies:
        settle = _position(calls, "settle", lie.place)
        changes = {reply: calls[reply]._replace(args=composed(instance, lie)), settle: calls[settle]}
        edits.append(Edit("unsupported_claim", reply, "final_answer", changes))
    return edits


def _other(place: int, kind: str, values: tuple[str | int, ...], true: str | int, draw: Draw) -> Lie:
    return Lie(place, kind, kind, draw.pick([value for value in values if value != true]))


_FAULTS: dict[str, Callable[[Instance, list[Call], Draw], list[Edit]]] = {
    "wrong_tool": _wrong_tool,
    "hallucinated_argument": _hallucinated,
    "skipped_precondition": _skipped,
    "ignored_observation": _ignored,
    "premature_stop": _premature,
    "unsupported_claim": _unsupported,
}
