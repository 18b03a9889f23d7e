"""The oracle is clean and reaches the expected outcome on every instance: computed, not assumed."""

from __future__ import annotations

import inspect
from importlib.resources import files

import pytest
import yaml

from trajaudit.testbeds.replay import replay
from trajaudit.testbeds.support_desk import check, oracle, witness
from trajaudit.testbeds.support_desk.generator import PRESETS, make
from trajaudit.testbeds.support_desk.instances import STRATA, Instance
from trajaudit.testbeds.support_desk.locales import CODES
from trajaudit.testbeds.support_desk.plan import Slot

DESIGNS = [("paper", "a"), ("varied", "a"), ("varied", "b")]


def expected(instance: Instance) -> list[tuple[int, bool]]:
    """What each order must end in (amount refunded, escalated), from its stratum and not from the world's ruling."""
    ends = []
    for order in instance.orders:
        fee = order.total * order.fee / 100 if order.stratum == "restocking_fee" else 0
        due = int(order.total - fee + 0.5) if order.stratum in STRATA[:2] else 0
        ends.append((due, order.stratum not in STRATA[:2]))
    return ends


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_the_oracle_keeps_every_rule_and_reaches_the_outcome_on_every_instance(preset: str, wording: str):
    for number in range(1500):
        run = make(preset, Slot(number, "clean"), seed=number % 3, wording=wording)
        assert check(run) == [], run
        assert witness(run) == [], run
        assert run.label is not None
        assert run.label.outcome_correct, run


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_the_outcome_is_the_one_that_the_stratum_demands(preset: str, wording: str):
    design, seen = PRESETS[preset], set()
    for number in range(1000):
        instance = design.instance(5, number, wording)
        desk = design.desk(instance)
        replay(design.script(instance), desk)
        escalated = {ticket.get("order_id", instance.orders[0].order_id) for ticket in desk.tickets}
        ends = [(desk.refunded.get(order.order_id, 0), order.order_id in escalated) for order in instance.orders]
        assert ends == expected(instance)
        seen |= {(order.stratum, instance.locale) for order in instance.orders}
    locales = ("",) if preset == "paper" else CODES
    assert seen == {(stratum, locale) for stratum in STRATA for locale in locales}


def test_a_paper_run_has_the_six_steps_of_the_script():
    for number in range(12):
        run = make("paper", Slot(number, "clean"), seed=7)
        settle = "issue_refund" if number % 6 < 2 else "escalate"
        tools = [step.action.tool for step in run.steps]
        assert tools == ["get_customer", "lookup_order", "get_policy", "check_eligibility", settle, "reply"]


def test_a_call_that_fails_for_a_moment_is_made_again():
    for number in range(300):
        run = make("varied", Slot(number, "clean"), seed=1)
        for before, after in zip(run.steps, run.steps[1:], strict=False):
            if not before.observation["ok"]:
                assert after.action == before.action
                assert after.observation["ok"]


def test_the_oracle_reads_the_request_and_the_answers_and_not_the_truth_behind_them():
    source = inspect.getsource(oracle)
    for hidden in (".owner", ".total", ".fee", ".window", ".refundable", ".stratum", "ruling("):
        assert hidden not in source


def test_the_written_procedure_has_eight_points_and_no_standing_claim():
    text = (files("trajaudit") / "datasets" / "procedures" / "support_desk.yaml").read_text(encoding="utf-8")
    procedure = yaml.safe_load(text)
    assert list(procedure) == ["name", "version", "points", "standing_claims"]
    assert (procedure["name"], len(procedure["points"]), procedure["standing_claims"]) == ("support_desk", 8, [])
    assert all(isinstance(point, str) and point.endswith(".") for point in procedure["points"])
