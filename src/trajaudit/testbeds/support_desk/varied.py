"""The varied preset's words: thoughts from a bank, and a reply that is composed from what the run has shown.

Two choices keep the words from giving a fault away. A thought is drawn for the stage that a step belongs to and says
what is intended, never what was answered nor which way an order is settled; some are said together with the one
before, in healthy runs as well. And the reply is composed during the replay, from the observations: after a wrong
amount was paid it states that amount, so that an injected fault is the only one. Its wording is drawn from a stream of
the instance alone, so a faulty run words what it has in common with its clean twin alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Arguments, Call, Late
from trajaudit.testbeds.support_desk.instances import Instance
from trajaudit.testbeds.support_desk.locales import LOCALES, to_units, written
from trajaudit.testbeds.support_desk.oracle import Seen, solve
from trajaudit.testbeds.support_desk.varied_world import CurrencyDesk
from trajaudit.testbeds.support_desk.wording import Bank, bank
from trajaudit.trajectory import Step

ASIDE, TOGETHER, REFUSAL = 0.25, 0.15, 0.5
"""How often a thought has a second sentence of no consequence, how often it is said together with the thought before,
and how often a reply says why an order was handed on (one that was handed on without cause has no reason to give)."""


class Lie(NamedTuple):
    """What a reply says in place of a true sentence: on the order at ``place``, ``kind`` with another ``value``.

    ``instead`` is the kind of the true sentence; it differs from ``kind`` where one note is told for another.
    """

    place: int
    instead: str
    kind: str
    value: str | int


class VariedVoice:
    """The words of one instance in its bank."""

    def __init__(self, instance: Instance) -> None:
        self.bank = bank(instance.wording)
        self.draw = Draw(f"{instance.key}|thoughts")

    def thought(self, kind: str, order_id: str) -> str:
        kind = "settle" if kind in ("refund", "escalate") else kind.partition(".")[0]
        thought = self.bank.say(f"thought.{kind}", self.draw, order=order_id)
        if self.draw.chance(ASIDE):
            thought = f"{thought} {self.bank.say('thought.aside', self.draw)}"
        return thought

    def refund(self, order_id: str, ruling: Arguments) -> Arguments:
        return {"order_id": order_id, "amount": ruling["max_refund"], "currency": ruling["currency"]}

    def escalation(self, order_id: str, reason: str) -> Arguments:
        draw = Draw(f"{order_id}|{reason}")
        return {"order_id": order_id, "reason": self.bank.say("escalation", draw, order=order_id, reason=reason)}

    def reply(self, instance: Instance, seen: Seen) -> Late:
        return composed(instance)


def varied_script(instance: Instance) -> list[Call]:
    """Return the oracle's calls for an instance, with some thoughts said together with the one before."""
    voice = VariedVoice(instance)
    calls = solve(instance, CurrencyDesk(instance), voice)
    for i in range(2, len(calls)):
        call, before = calls[i], calls[i - 1]
        alone = "policy" in call.stage or call.stage.startswith(("again", "retry")) or before.stage[:5] == "again"
        if voice.draw.chance(TOGETHER) and not alone and before.thought is not None:
            calls[i - 1] = before._replace(thought=f"{before.thought} {call.thought}")
            calls[i] = call._replace(thought=None)
    return calls


def composed(instance: Instance, lie: Lie | None = None) -> Late:
    """Return the arguments of the reply as a function of the steps, with at most one fabricated sentence."""
    return lambda steps: {"text": "\n".join(_sentences(instance, _Account(steps), lie))}


class _Account:
    """What the steps so far have shown, by order."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.name = ""
        self.told: dict[str, dict[str, Arguments]] = {}
        for step in steps:
            tool, args, answer = step.action.tool, step.action.args, step.observation  # type: ignore[union-attr]
            if not answer["ok"]:
                continue
            if tool == "get_customer":
                self.name = answer["data"]["name"]
            elif args and "order_id" in args and tool:
                self.told.setdefault(tool, {})[args["order_id"]] = answer["data"]

    def of(self, tool: str, order_id: str) -> Arguments | None:
        return self.told.get(tool, {}).get(order_id)


def _sentences(instance: Instance, account: _Account, lie: Lie | None) -> list[str]:
    words, draw = bank(instance.wording), Draw(f"{instance.key}|reply")
    mentions = dict(instance.mentions)
    out = [words.say("reply_to.greet", draw, name=account.name)]
    for place, order in enumerate(instance.orders):
        falsehood = lie if lie is not None and lie.place == place else None
        out += _settlement(words, draw, instance.locale, order.order_id, account, falsehood)
        record = account.of("lookup_order", order.order_id)
        if place in mentions and record is not None:
            kind = mentions[place]
            value = next(note["value"] for note in record["notes"] if note["kind"] == kind)
            if falsehood is not None and falsehood.instead == kind:
                kind, value = falsehood.kind, falsehood.value
            out.append(words.say(f"reply_to.{kind}", draw, order=order.order_id, value=value))
    return [*out, words.say("reply_to.close", draw)]


def _settlement(words: Bank, draw: Draw, locale: str, order: str, account: _Account, lie: Lie | None) -> list[str]:
    """Return the sentences on how one order ended: paid back, or handed on with the ruling that made it so."""
    false = {lie.kind: lie.value} if lie is not None else {}
    paid, ticket = account.of("issue_refund", order), account.of("escalate", order)
    if paid is not None:
        amount = written(to_units(paid["refunded"], LOCALES[locale].digits), locale)
        days = false.get("payout", paid["payout_days"])
        return [
            words.say("reply_to.refunded", draw, order=order, amount=amount),
            words.say("reply_to.payout", draw, order=order, days=days),
        ]
    if ticket is None:
        return []
    ruling = account.of("check_eligibility", order)
    refusal = []
    if draw.chance(REFUSAL) and ruling is not None and not ruling["eligible"]:
        refusal = [words.say("reply_to.refused", draw, order=order, reason=ruling["reason"])]
    queue, hours = false.get("escalated", ticket["queue"]), false.get("response", ticket["response_hours"])
    return [
        *refusal,
        words.say("reply_to.escalated", draw, order=order, queue=queue),
        words.say("reply_to.response", draw, order=order, hours=hours),
    ]
