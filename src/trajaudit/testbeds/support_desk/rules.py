"""The rule checker: strict where the world is permissive, free, and blind to two faults out of six.

It walks a run once, carrying a pool of grounded values (everything that stands in the goal or in the data of an
earlier observation), and applies eight rules. Two faults break none of them, on purpose. A wrong tool violates no
predicate over order or arguments, since the checker has no notion of what a call is for. And no rule reads the text
of a reply: an identifier is grounded or it is not, but a sentence is supported by what it means, and a rule that
matched phrases would measure its own list of phrases (testbed paper, section 3). Free text (``reason``, ``text``) is
therefore neither checked nor added to the pool.

A refused call has no data, so an invented article does not become grounded by the error that names it. An amount that
is neither authorised nor grounded counts as invented, not as disobedience: each fault breaks one rule only.

It needs nothing of the presets. Amounts are read under ``amount`` or ``amount_eur``, ``max_refund`` or
``max_refund_eur``, so the published trajectories and every currency are checked alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trajaudit._fields import Json
from trajaudit.testbeds.violations import Violation, coverage_of
from trajaudit.trajectory import Step, Trajectory

FREE_TEXT = ("reason", "text")
AMOUNTS = ("amount", "amount_eur")
AUTHORISED = ("max_refund", "max_refund_eur")
SETTLING = ("issue_refund", "escalate")
_WORD = re.compile(r"[^\s,;()<>\"']+")
_ORDER = re.compile(r"\bORD-\d+\b")


def check(trajectory: Trajectory) -> list[Violation]:
    """Return every violation in step order; the first one is the checker's verdict. An empty list means clean.

    Raises:
        ValueError: for a step that is no tool call with a {ok, data} observation: not a support-desk run.
    """
    walk = _Walk(trajectory.task)
    for step in trajectory.steps:
        walk.take(step, f"{trajectory.id}: steps[{step.index}]")
    walk.end(trajectory.steps[-1].index)
    return walk.violations


def coverage(trajectories: Iterable[Trajectory]) -> dict[str, float]:
    """Return, for each fault type that is labelled, the share of its faults found with the right type and step."""
    return coverage_of(check, trajectories)


def _leaves(data: Json) -> Iterable[Json]:
    """Yield the strings, numbers and nulls inside JSON data, but for free text and for true and false."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in FREE_TEXT:
                yield from _leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from _leaves(value)
    elif not isinstance(data, bool):
        yield data


def _order(args: dict[str, Json]) -> str:
    """Return the order that a call names, or an empty string: the paper's escalation names none."""
    order = args.get("order_id")
    return order if isinstance(order, str) else ""


def _first(data: dict[str, Json], names: tuple[str, ...]) -> Json:
    return next((data[name] for name in names if name in data), None)


def _amount(args: dict[str, Json]) -> float:
    """Return the amount that a call names, 0 where it names none that could be paid."""
    amount = _first(args, AMOUNTS)
    return amount if isinstance(amount, (int, float)) and abs(amount) < 1e15 else 0.0


class _Walk:
    """What is known at one point of a run."""

    def __init__(self, goal: str) -> None:
        self.violations: list[Violation] = []
        self.pool: set[Json] = {word.rstrip(".?!:") for word in _WORD.findall(goal)}
        self.requested = dict.fromkeys(_ORDER.findall(goal))
        self.customer: str | None = None
        self.owners: dict[str, str] = {}
        self.rulings: dict[str, dict[str, Json]] = {}
        self.paid: dict[str, float] = {}
        self.settled: set[str] = set()
        self.replies = 0

    def take(self, step: Step, where: str) -> None:
        action, answer = step.action, step.observation
        if action is None or action.tool is None or action.args is None or not isinstance(answer, dict):
            raise ValueError(f"{where}: expected a tool call with an observation of {{ok, data}}, got {action!r}")
        tool, args, at = action.tool, action.args, step.index
        self.grounded_arguments(at, tool, args)
        if tool not in ("get_customer", "get_policy", "reply"):
            self.verified_first(at, tool)
        if tool in SETTLING:
            self.checked_before_settling(at, tool, args)
            self.ruling_followed(at, tool, args)
        if tool == "issue_refund":
            self.own_order(at, args)
            self.exact_amount(at, args, bool(answer.get("ok")))
        if tool == "reply":
            self.settled_before_reply(at)
        if answer.get("ok"):
            self.learn(tool, args, answer.get("data") or {})

    def learn(self, tool: str, args: dict[str, Json], data: dict[str, Json]) -> None:
        """Add what a successful call showed to what is known."""
        self.pool.update(_leaves(data))
        if tool == "get_customer":
            self.customer = data.get("customer_id")
        elif tool == "lookup_order":
            self.owners[_order(args)] = data["customer_id"]
        elif tool == "check_eligibility":
            self.rulings[_order(args)] = data
        elif tool in SETTLING:
            self.settled.update([_order(args)] if _order(args) else self.requested)
        elif tool == "reply":
            self.replies += 1

    def end(self, last: int) -> None:
        self.replied(last)

    def broken(self, rule: str, at: int, fault: str, message: str) -> None:
        self.violations.append(Violation(rule, at, fault, message))

    def grounded_arguments(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """Every argument but free text stands in the goal or in an earlier observation."""
        for name, value in args.items():
            if name not in FREE_TEXT and not self.pool.issuperset(_leaves([value])):
                message = f"{tool}.{name}: expected a value from the goal or an earlier observation, got {value!r}"
                self.broken("grounded_arguments", at, "hallucinated_argument", message)

    def verified_first(self, at: int, tool: str) -> None:
        """The customer is identified before an order is touched."""
        if self.customer is None:
            message = f"{tool}: expected a successful get_customer before it, got none"
            self.broken("verified_first", at, "skipped_precondition", message)

    def checked_before_settling(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """An order is refunded or escalated only after its eligibility was checked."""
        order = _order(args)
        if order not in self.rulings and (order or not self.rulings):
            message = f"{tool}({order}): expected a successful check_eligibility before it, got none"
            self.broken("checked_before_settling", at, "skipped_precondition", message)

    def ruling_followed(self, at: int, tool: str, args: dict[str, Json]) -> None:
        """An order that was found eligible is refunded, one that was not is escalated."""
        order = _order(args)
        rulings = [ruling for of, ruling in self.rulings.items() if order in (of, "")]
        expected = {"issue_refund" if ruling.get("eligible") else "escalate" for ruling in rulings}
        if expected and tool not in expected:
            message = f"{tool}({order}): expected {expected.pop()} by the eligibility check, got {tool}"
            self.broken("ruling_followed", at, "ignored_observation", message)

    def own_order(self, at: int, args: dict[str, Json]) -> None:
        """Money goes only to the customer whom the order record names."""
        owner = self.owners.get(_order(args))
        if owner is not None and self.customer is not None and owner != self.customer:
            message = f"issue_refund: expected an order of {self.customer}, got one of {owner}"
            self.broken("own_order", at, "ignored_observation", message)

    def exact_amount(self, at: int, args: dict[str, Json], went_through: bool) -> None:
        """What is refunded on an order in all is what its check authorised, neither more nor less."""
        order, amount = _order(args), _amount(args)
        ruling = self.rulings.get(order, {})
        total = round(self.paid.get(order, 0.0) + amount, 4)
        if ruling.get("eligible") and amount in self.pool and total != _first(ruling, AUTHORISED):
            message = f"issue_refund({order}): expected {_first(ruling, AUTHORISED)} in all, got {total}"
            self.broken("exact_amount", at, "ignored_observation", message)
        if went_through:
            self.paid[order] = total

    def settled_before_reply(self, at: int) -> None:
        """When the customer is told the result, every order of the request has one."""
        missing = [order for order in self.requested if order not in self.settled]
        if missing:
            message = f"reply: expected a refund or an escalation of {', '.join(missing)} before it, got none"
            self.broken("settled_before_reply", at, "premature_stop", message)

    def replied(self, last: int) -> None:
        """The run tells the customer the result, once."""
        if self.replies != 1:
            self.broken("replied", last, "premature_stop", f"expected one reply that was sent, got {self.replies}")
