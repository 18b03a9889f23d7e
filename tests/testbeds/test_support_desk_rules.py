"""Eight rules, each with a run that it alone objects to; what they cover is measured and pinned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from trajaudit.testbeds.support_desk import check, coverage, generate
from trajaudit.trajectory import Action, Source, Step, Trajectory

DATA = Path(os.environ.get("TRAJAUDIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "trajectory_judge"

PINNED = {
    "hallucinated_argument": 1.0,
    "skipped_precondition": 1.0,
    "ignored_observation": 1.0,
    "premature_stop": 1.0,
    "wrong_tool": 0.0,
    "unsupported_claim": 0.0,
}

CUSTOMER = ("get_customer", {"email": "ada@example.com"}, {"customer_id": "CUS-1", "name": "Ada Byron"})
RECORD = {"order_id": "ORD-10001", "customer_id": "CUS-1", "sku": "SKU-A", "total_eur": 100.0, "status": "delivered"}
LOOKUP = ("lookup_order", {"order_id": "ORD-10001"}, RECORD)
POLICY = ("get_policy", {"sku": "SKU-A"}, {"sku": "SKU-A", "refundable": True, "restocking_fee_pct": 10.0})
CHECK = (
    "check_eligibility",
    {"order_id": "ORD-10001"},
    {"eligible": True, "max_refund_eur": 90.0, "reason": "within policy"},
)
REFUND = ("issue_refund", {"order_id": "ORD-10001", "amount_eur": 90.0}, {"refunded_eur": 90.0, "status": "refunded"})
FULL = ("issue_refund", {"order_id": "ORD-10001", "amount_eur": 100.0}, {"refunded_eur": 100.0, "status": "refunded"})
ESCALATE = ("escalate", {"reason": "please look"}, {"ticket": "ESC-OPEN"})
REPLY = ("reply", {"text": "Refunded EUR 90.00 and a yacht."}, {"sent": True})


def run(*calls, goal: str = "Refund for ada@example.com, order ORD-10001.") -> Trajectory:
    steps = []
    for i, (tool, args, data) in enumerate(calls):
        observation = {"ok": data is not None, "data": data or {}, "error": None if data is not None else "failed"}
        steps.append(Step(i, "", Action(tool, args), observation))
    return Trajectory("t", "g", goal, tuple(steps), "", Source("test"))


def fired(*calls, **more) -> list[tuple[str, int, str]]:
    return [(violation.rule, violation.step, violation.type) for violation in check(run(*calls, **more))]


def test_a_healthy_run_breaks_no_rule_whatever_its_reply_says():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, REFUND, REPLY) == []


def test_only_grounding_objects_to_an_article_from_nowhere():
    invented = ("get_policy", {"sku": "SKU-GIFT-21"}, None)
    assert fired(CUSTOMER, LOOKUP, invented, CHECK, REFUND, REPLY) == [
        ("grounded_arguments", 2, "hallucinated_argument")
    ]


def test_only_grounding_objects_to_an_amount_from_nowhere():
    invented = ("issue_refund", {"order_id": "ORD-10001", "amount_eur": 95.5}, {"refunded_eur": 95.5})
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, invented, REPLY) == [
        ("grounded_arguments", 4, "hallucinated_argument")
    ]


def test_only_the_order_of_steps_objects_to_an_unidentified_customer():
    rules = {(rule, kind) for rule, _, kind in fired(LOOKUP, POLICY, CHECK, REFUND, REPLY)}
    assert rules == {("verified_first", "skipped_precondition")}


def test_only_the_order_of_steps_objects_to_an_unchecked_refund():
    assert fired(CUSTOMER, LOOKUP, POLICY, FULL, REPLY) == [("checked_before_settling", 3, "skipped_precondition")]


def test_only_the_order_of_steps_objects_to_an_unchecked_escalation():
    assert fired(CUSTOMER, LOOKUP, ESCALATE, REPLY) == [("checked_before_settling", 2, "skipped_precondition")]


def test_a_check_that_failed_is_no_check():
    failed = (CHECK[0], CHECK[1], None)
    assert fired(CUSTOMER, LOOKUP, failed, FULL, REPLY) == [("checked_before_settling", 3, "skipped_precondition")]


def test_only_the_ruling_objects_to_a_refund_of_what_was_refused():
    refused = (CHECK[0], CHECK[1], {"eligible": False, "max_refund_eur": 0.0, "reason": "outside window"})
    assert fired(CUSTOMER, LOOKUP, POLICY, refused, FULL, REPLY) == [("ruling_followed", 4, "ignored_observation")]


def test_only_the_ruling_objects_to_an_escalation_of_what_was_authorised():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, ESCALATE, REPLY) == [("ruling_followed", 4, "ignored_observation")]


def test_only_the_amount_rule_objects_to_the_price_where_less_was_authorised():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, FULL, REPLY) == [("exact_amount", 4, "ignored_observation")]


def test_only_the_amount_rule_objects_to_paying_the_right_amount_twice():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, REFUND, REFUND, REPLY) == [("exact_amount", 5, "ignored_observation")]


def test_only_identity_objects_to_paying_for_the_order_of_someone_else():
    foreign = (LOOKUP[0], LOOKUP[1], {**RECORD, "customer_id": "CUS-2"})
    assert fired(CUSTOMER, foreign, POLICY, CHECK, REFUND, REPLY) == [("own_order", 4, "ignored_observation")]


def test_only_termination_objects_to_a_reply_before_a_result():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, REPLY) == [("settled_before_reply", 4, "premature_stop")]


def test_a_result_for_one_order_is_none_for_the_other():
    goal = "Refund for ada@example.com, orders ORD-10001 and ORD-10002."
    violations = check(run(CUSTOMER, LOOKUP, POLICY, CHECK, REFUND, REPLY, goal=goal))
    assert [violation.rule for violation in violations] == ["settled_before_reply"]
    assert "ORD-10002" in violations[0].message


def test_only_termination_objects_to_a_run_that_never_replies():
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, REFUND) == [("replied", 4, "premature_stop")]


def test_a_value_named_by_an_error_is_not_grounded_by_it():
    again = ("get_policy", {"sku": "SKU-GIFT-21"}, None)
    assert [step for _, step, _ in fired(CUSTOMER, LOOKUP, again, again, CHECK, REFUND, REPLY)] == [2, 3]


def test_a_refund_that_failed_is_not_counted_as_paid():
    failed = (REFUND[0], REFUND[1], None)
    assert fired(CUSTOMER, LOOKUP, POLICY, CHECK, failed, REFUND, REPLY) == []


def test_a_message_says_what_was_expected_and_what_was_given():
    messages = [violation.message for violation in check(run(CUSTOMER, LOOKUP, POLICY, CHECK, FULL, REPLY))]
    assert messages == ["issue_refund(ORD-10001): expected 90.0 in all, got 100.0"]


def test_arguments_of_a_strange_shape_are_judged_and_do_not_raise():
    strange = ("lookup_order", {"order_id": ["ORD-10001"], "why": {"x": True}}, None)
    assert fired(CUSTOMER, strange, LOOKUP, POLICY, CHECK, REFUND, REPLY) == []
    wild = ("issue_refund", {"order_id": {"a": "b"}, "amount_eur": "all of it"}, None)
    assert "grounded_arguments" in [rule for rule, *_ in fired(CUSTOMER, LOOKUP, CHECK, wild, REFUND, REPLY)]


def test_a_run_without_tool_calls_is_refused_by_name():
    talk = Trajectory("t9", "g", "goal", (Step(0, "hm", Action(text="hello"), "hi"),), "", Source("test"))
    with pytest.raises(ValueError, match=r"t9: steps\[0\]: expected a tool call"):
        check(talk)


@pytest.mark.parametrize(
    ("preset", "wording", "cascades"),
    [("paper", "a", 0.0), ("varied", "a", 0.0), ("varied", "b", 0.0), ("varied", "a", 1.0)],
)
def test_the_rules_cover_four_types_wholly_and_two_not_at_all(preset: str, wording: str, cascades: float):
    runs = list(generate(preset, 1600, 1, wording, cascades))
    assert coverage(runs) == PINNED
    for item in runs:
        labelled = {(fault.type, fault.step) for fault in item.label.faults}
        assert {(violation.type, violation.step) for violation in check(item)} <= labelled


@pytest.mark.skipif(not DATA.is_dir(), reason="the published trajectories are not at hand")
def test_the_rules_give_the_published_verdict_on_each_of_the_four_hundred_published_runs():
    published = {}
    with open(DATA / "verdicts.jsonl") as file:
        for item in map(json.loads, file):
            if item["judge_id"] == "programmatic":
                published[item["trajectory_id"]] = (item["faulty"], item["failure_step"], item["failure_type"])
    ours = {}
    with open(DATA / "trajectories.jsonl") as file:
        for item in map(json.loads, file):
            calls = [(s["call"]["tool"], s["call"]["args"], s["observation"]) for s in item["steps"]]
            steps = tuple(Step(i, "", Action(tool, args), seen) for i, (tool, args, seen) in enumerate(calls))
            found = check(Trajectory(item["trajectory_id"], "g", item["goal"], steps, "", Source("published")))
            verdict = (True, found[0].step, found[0].type) if found else (False, None, None)
            ours[item["trajectory_id"]] = verdict
    assert len(ours) == 400
    assert ours == published
