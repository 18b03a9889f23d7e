"""The witness: finds the faults of a run from the run alone, by other reasoning than the injector and the rules.

It shares no code with either. For each fault type it has a definition that can be checked against the goal and the
observations: an argument that occurs nowhere before, a settlement without a ruling, one against it, a policy that was
never read while a needless call was made, an end without a result, a sentence of the reply that no observation bears
out. A set is as labelled when the witness of every run names the labelled faults, at their steps, and nothing else.

It knows more than an auditor may: the wording bank tells it what a sentence of a reply claims (every form is tied to
a predicate over observations) and what a thought was about. In the paper preset a reply repeats the authorised amount
after another one was refunded; where the refund itself is found at fault, that sentence is taken as its echo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trajaudit._fields import Json, dumps
from trajaudit.testbeds.support_desk import paper
from trajaudit.testbeds.support_desk.locales import LOCALES, to_units, written
from trajaudit.testbeds.support_desk.wording import Bank, bank
from trajaudit.trajectory import Trajectory

Data = dict[str, Json]
_NAMED = re.compile(r"ORD-\d+")


class Found(NamedTuple):
    """A fault that the run itself bears out."""

    type: str
    step: int


class Turn(NamedTuple):
    """A step as the witness reads it: ``data`` is what the call showed, null where it failed."""

    at: int
    tool: str
    args: Data
    data: Data | None
    thought: str

    @property
    def order(self) -> str | None:
        return self.args.get("order_id")


def witness(trajectory: Trajectory) -> list[Found]:
    """Return the faults of a generated support-desk run, in step order."""
    turns = [_turn(step) for step in trajectory.steps]
    wording = trajectory.source.meta.get("wording")
    words = bank(wording) if isinstance(wording, str) else None
    found = [
        *_invented(trajectory.task, turns),
        *_unchecked(turns),
        *_disobeyed(turns),
        *_stopped(trajectory.task, turns),
    ]
    found += _misdirected(trajectory.task, turns, words)
    reply = next((turn for turn in turns if turn.tool == "reply"), None)
    if reply is not None:
        text, before = str(reply.args["text"]), turns[: reply.at]
        paid_wrongly = any(turns[fault.step].tool == "issue_refund" for fault in found)
        bad = (
            _paper_reply_is_false(text, before, paid_wrongly) if words is None else _reply_is_false(text, before, words)
        )
        found += [Found("unsupported_claim", reply.at)] if bad else []
    return sorted(found, key=lambda fault: fault.step)


def _turn(step: Json) -> Turn:
    answer = step.observation
    data = answer["data"] if answer["ok"] else None
    return Turn(step.index, step.action.tool, step.action.args, data, step.thought or "")


def _numbers(data: Json) -> Iterator[float]:
    for value in data.values() if isinstance(data, dict) else data:
        if isinstance(value, (dict, list)):
            yield from _numbers(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield value


def _invented(goal: str, turns: list[Turn]) -> Iterator[Found]:
    """An argument occurs, as a whole word or number, neither in the goal nor in what earlier calls showed."""
    text, numbers = goal, set[float]()
    for turn in turns:
        for name, value in turn.args.items():
            if name in ("reason", "text"):
                continue
            known = value in numbers if not isinstance(value, str) else _occurs(value, text)
            if not known:
                yield Found("hallucinated_argument", turn.at)
        if turn.data is not None:
            text += "\n" + dumps(turn.data)
            numbers.update(_numbers(turn.data))


def _occurs(word: str, text: str) -> bool:
    """Return whether a word stands in a text, not as a part of a longer word, number or address."""
    start = text.find(word)
    while start >= 0:
        around = text[start - 1 : start] + text[start + len(word) : start + len(word) + 1]
        if not any(character.isalnum() or character in "-@" for character in around):
            return True
        start = text.find(word, start + 1)
    return False


def _ruling(turns: list[Turn], settling: Turn) -> Data | None:
    """Return the last ruling before a settlement: of its order, or of any where it names none."""
    rulings = [
        turn.data
        for turn in turns[: settling.at]
        if turn.tool == "check_eligibility" and turn.data is not None and settling.order in (None, turn.order)
    ]
    return rulings[-1] if rulings else None


def _settlements(turns: list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.tool in ("issue_refund", "escalate")]


def _unchecked(turns: list[Turn]) -> list[Found]:
    return [Found("skipped_precondition", t.at) for t in _settlements(turns) if _ruling(turns, t) is None]


def _disobeyed(turns: list[Turn]) -> Iterator[Found]:
    """A settlement is of the other kind than ruled, or pays a known amount that is not the authorised one."""
    for turn in _settlements(turns):
        ruling = _ruling(turns, turn)
        if ruling is None:
            continue
        amount = turn.args.get("amount", turn.args.get("amount_eur"))
        due = ruling.get("max_refund", ruling.get("max_refund_eur"))
        seen = {number for earlier in turns[: turn.at] if earlier.data for number in _numbers(earlier.data)}
        wrong_kind = (turn.tool == "issue_refund") != ruling["eligible"]
        if wrong_kind or (turn.tool == "issue_refund" and amount != due and amount in seen):
            yield Found("ignored_observation", turn.at)


def _stopped(goal: str, turns: list[Turn]) -> list[Found]:
    """Nothing was sent, or it was sent while an order that the goal names had no result."""
    sent = next((turn for turn in turns if turn.tool == "reply" and turn.data is not None), None)
    if sent is None:
        return [Found("premature_stop", turns[-1].at)]
    settled = {turn.order for turn in _settlements(turns[: sent.at]) if turn.data is not None}
    open_orders = [order for order in _NAMED.findall(goal) if order not in settled and None not in settled]
    return [Found("premature_stop", sent.at)] if open_orders else []


def _misdirected(goal: str, turns: list[Turn], words: Bank | None) -> Iterator[Found]:
    """A call shows nothing that another call of the run does not show, while an order's policy was never asked for.

    Harmless repetitions are told apart by what the step was for, where thoughts say it. The last step of a run that
    was never answered is left out: its thought is of all that was still to come.
    """
    articles = {t.order: t.data["sku"] for t in turns if t.tool == "lookup_order" and t.data is not None}
    asked = {turn.args["sku"] for turn in turns if turn.tool == "get_policy"}
    unread = [order for order in _NAMED.findall(goal) if order in articles and articles[order] not in asked]
    if not unread:
        return
    for turn in turns:
        others = [
            t for t in turns if t is not turn and t.data is not None and (t.tool, t.args) == (turn.tool, turn.args)
        ]
        earlier = any(other.at < turn.at for other in others)
        if turn.tool == "get_policy" or not others or turn.tool == "reply":
            continue
        if (earlier and words is None) or (words and turn is not turns[-1] and words.thinks_of("policy", turn.thought)):
            yield Found("wrong_tool", turn.at)


def _paper_reply_is_false(text: str, before: list[Turn], paid_wrongly: bool) -> bool:
    """Return whether a reply of the paper preset is more than its one form, filled from observations."""
    name = next(t.data["name"] for t in before if t.tool == "get_customer" and t.data)
    order = next(t.data["order_id"] for t in before if t.tool == "lookup_order" and t.data)
    paid = [t.data["refunded_eur"] for t in before if t.tool == "issue_refund" and t.data]
    if paid and not paid_wrongly:
        return text != paper.PAID.format(name=name, amount=paid[-1], order=order, promise=paper.PROMISES[0])
    if paid:  # the amount may be the authorised one, which no observation shows where the check was left out
        around = paper.PAID.format(name=name, amount=0.0, order=order, promise=paper.PROMISES[0]).split("0.00", 1)
        return re.fullmatch(rf"{re.escape(around[0])}\d+\.\d\d{re.escape(around[1])}", text) is None
    reason = next((t.data["reason"] for t in before if t.tool == "check_eligibility" and t.data), None)
    return text != paper.PASSED_ON.format(name=name, order=order, reason=reason, promise=paper.PROMISES[1])


def _reply_is_false(text: str, before: list[Turn], words: Bank) -> bool:
    """Return whether any sentence of a varied reply is no known form or claims what no observation bears out."""
    readings = [words.read(line) for line in text.split("\n")]
    return not all(reading is not None and _borne_out(*reading, before) for reading in readings)


def _borne_out(kind: str, slots: dict[str, str], before: list[Turn]) -> bool:
    if kind == "close":
        return True
    shown = [(t.tool, t.data) for t in before if t.data is not None and t.order == slots.get("order")]

    def any_of(tool: str) -> list[Data]:
        return [data for shown_by, data in shown if shown_by == tool]

    match kind:
        case "greet":
            return any(data["name"] == slots["name"] for data in any_of("get_customer"))
        case "refunded":
            return any(slots["amount"] in _spellings(data) for data in any_of("issue_refund"))
        case "payout":
            return any(str(data["payout_days"]) == slots["days"] for data in any_of("issue_refund"))
        case "refused":
            rulings = any_of("check_eligibility")
            return any(not data["eligible"] and data["reason"] == slots["reason"] for data in rulings)
        case "escalated":
            return any(data["queue"] == slots["queue"] for data in any_of("escalate"))
        case "response":
            return any(str(data["response_hours"]) == slots["hours"] for data in any_of("escalate"))
    notes = [(note["kind"], str(note["value"])) for data in any_of("lookup_order") for note in data["notes"]]
    return (kind, slots["value"]) in notes


def _spellings(paid: Data) -> set[str]:
    """Return how an amount that was refunded may be written in the countries of its currency."""
    places = [(code, place.digits) for code, place in LOCALES.items() if place.currency == paid["currency"]]
    return {written(to_units(paid["refunded"], digits), code) for code, digits in places}
