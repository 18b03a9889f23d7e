"""The world is permissive, deterministic and never raises for what an agent asks of it."""

from __future__ import annotations

import pytest

from trajaudit.testbeds.support_desk.instances import STRATA, Instance, Note, Order, less_fee, paper_instance
from trajaudit.testbeds.support_desk.locales import CODES, LOCALES, to_number, to_units, written
from trajaudit.testbeds.support_desk.outcome import outcome_correct
from trajaudit.testbeds.support_desk.varied_instances import varied_instance
from trajaudit.testbeds.support_desk.varied_world import UNAVAILABLE, CurrencyDesk
from trajaudit.testbeds.support_desk.world import TOOLS, Desk, ruling

ORDER = Order("ORD-10001", "CUS-1", "SKU-A", 6319, 10, "delivered", True, 30, 5, "restocking_fee")


def instance(*orders: Order, **fields) -> Instance:
    base = Instance("key", "CUS-1", "Ada Byron", "ada@example.com", "0042", orders or (ORDER,), "goal", ())
    return base._replace(**fields)


def test_a_refund_without_any_check_goes_through():
    desk = Desk(instance())
    answer = desk.call("issue_refund", {"order_id": "ORD-10001", "amount_eur": 63.19})
    assert answer == {"ok": True, "data": {"refunded_eur": 63.19, "status": "refunded"}, "error": None}
    assert desk.refunded == {"ORD-10001": 6319}


@pytest.mark.parametrize("stratum", STRATA)
def test_money_goes_out_for_an_order_of_any_stratum(stratum: str):
    case = paper_instance(7, STRATA.index(stratum))
    desk = Desk(case)
    assert desk.call("issue_refund", {"order_id": case.orders[0].order_id, "amount_eur": 999.0})["ok"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ("within", 6003)),  # 63.19 less 5 % is 60.0305
        ({"fee": 0}, ("within", 6319)),
        ({"days": 30}, ("within", 6003)),  # the last day of the window still counts
        ({"days": 31}, ("expired", 0)),
        ({"refundable": False}, ("final", 0)),
        ({"owner": "CUS-2"}, ("other", 0)),
        ({"status": "refunded"}, ("repaid", 0)),
        ({"owner": "CUS-2", "status": "refunded", "days": 99}, ("other", 0)),
    ],
)
def test_the_ruling_follows_from_the_facts(change: dict, expected: tuple):
    assert ruling(ORDER._replace(**change), "CUS-1") == expected


def test_fees_are_rounded_half_up_in_the_smallest_unit():
    assert less_fee(21013, 15) == 17861  # 178.6105
    assert less_fee(10, 5) == 10  # 9.5
    assert less_fee(110, 5) == 105  # 104.5


@pytest.mark.parametrize("tool", [*TOOLS, "drop_table"])
@pytest.mark.parametrize("desk", [Desk, CurrencyDesk])
def test_nonsense_gets_an_error_and_never_an_exception(desk, tool: str):
    world = desk(instance(locale="de_DE", wording="a"))
    for args in (
        {},
        {"order_id": None, "sku": [1], "email": {}, "amount": "a", "amount_eur": [], "text": 1, "reason": 2},
    ):
        answer = world.call(tool, args)
        assert set(answer) == {"ok", "data", "error"}
        assert answer["ok"] == (answer["error"] is None)
    assert world.refunded == {}


def test_an_order_shows_as_refunded_after_it_was():
    desk = Desk(instance())
    desk.call("issue_refund", {"order_id": "ORD-10001", "amount_eur": 1.0})
    assert desk.call("lookup_order", {"order_id": "ORD-10001"})["data"]["status"] == "refunded"


def test_an_outage_passes_after_one_call_and_only_for_its_subject():
    desk = CurrencyDesk(
        instance(locale="de_DE", wording="a", outages=frozenset({("lookup_order", "ORD-10001")})),
    )
    assert desk.call("check_eligibility", {"order_id": "ORD-10001"})["ok"]
    assert desk.call("lookup_order", {"order_id": "ORD-10001"})["error"] == UNAVAILABLE
    assert desk.call("lookup_order", {"order_id": "ORD-10001"})["ok"]


def test_what_a_reply_may_promise_is_returned_by_a_tool():
    order = ORDER._replace(notes=(Note("pickup", "Friday"),), payout_days=3, queue="Billing", response_hours=8)
    desk = CurrencyDesk(instance(order, locale="ja_JP", wording="a"))
    paid = desk.call("issue_refund", {"order_id": "ORD-10001", "amount": 100, "currency": "JPY"})["data"]
    handed_on = desk.call("escalate", {"order_id": "ORD-10001", "reason": "r"})["data"]
    assert (paid["payout_days"], handed_on["queue"], handed_on["response_hours"]) == (3, "Billing", 8)
    assert desk.call("lookup_order", {"order_id": "ORD-10001"})["data"]["notes"] == [
        {"kind": "pickup", "value": "Friday"}
    ]


@pytest.mark.parametrize("code", CODES)
def test_an_amount_survives_every_currency(code: str):
    digits = LOCALES[code].digits
    for units in (0, 1, 7, 99, 100, 101, 123_456, 4_800_001):
        assert to_units(to_number(units, digits), digits) == units
        assert "".join(c for c in written(units, code) if c.isdigit()) == f"{units:0{digits + 1}d}"


def test_a_request_with_two_orders_is_right_only_when_both_are():
    second = ORDER._replace(order_id="ORD-10002", days=99)
    case = instance(ORDER, second, locale="de_DE", wording="a")

    def after(*calls):
        desk = CurrencyDesk(case)
        for tool, args in calls:
            desk.call(tool, args)
        return outcome_correct(case, desk)

    paid = ("issue_refund", {"order_id": "ORD-10001", "amount": 60.03, "currency": "EUR"})
    handed_on = ("escalate", {"order_id": "ORD-10002", "reason": "r"})
    told = ("reply", {"text": "done"})
    assert after(paid, handed_on, told)
    assert not after(paid, handed_on)  # nobody was told
    assert not after(paid, told)
    assert not after(handed_on, told)
    assert not after(paid, paid, handed_on, told)  # paid twice
    assert not after(paid, handed_on, ("escalate", {"order_id": "ORD-10001", "reason": "r"}), told)


def test_a_customers_record_lists_only_their_own_orders():
    for number in range(200):
        case = varied_instance(0, number, "a")
        owners = {order.order_id: order.owner for order in (*case.orders, *case.others)}
        listed = CurrencyDesk(case._replace(outages=frozenset())).call("get_customer", {"email": case.email})["data"][
            "orders"
        ]
        assert all(owners[order_id] == case.customer_id for order_id in listed)
