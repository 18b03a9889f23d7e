"""Tokens and money: each token billed once at the rate of its class, and null where anything is unknown."""

import pytest

from trajaudit.llm import prices
from trajaudit.llm.budget import Budget
from trajaudit.llm.chat import BudgetExceeded
from trajaudit.llm.prices import CLASSES, FREE, Price, listed_price, own_price
from trajaudit.llm.usage import Tokens, cost, read_tokens, read_usage
from trajaudit.verdict import Usage

OPENAI = "https://api.openai.com/v1"
RATES = Price(2.0, 0.5, 2.5, 4.0, 8.0)


def test_the_three_dialects_of_usage_are_read():
    openai = {"prompt_tokens": 100, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 60}}
    openai["completion_tokens_details"] = {"reasoning_tokens": 20}
    assert read_tokens(openai) == Tokens(prompt=100, cached=60, completion=30, reasoning=20)
    router = {"prompt_tokens": 100, "completion_tokens": 3, "prompt_tokens_details": {"cache_write_tokens": 40}}
    assert read_tokens(router) == Tokens(prompt=100, written=40, completion=3)
    by_age = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30}
    claude = {"prompt_tokens": 90, "completion_tokens": 1, "cache_read_input_tokens": 20, "cache_creation": by_age}
    assert read_tokens(claude) == Tokens(prompt=90, cached=20, written=10, written_1h=30, completion=1)


@pytest.mark.parametrize("block", [None, [], "12", {}, {"prompt_tokens": "12", "completion_tokens": True}])
def test_usage_that_is_absent_or_malformed_is_null_and_so_is_its_cost(block):
    assert read_usage(block, RATES) == Usage(1, None, None, None, None)


def test_each_class_of_tokens_has_its_own_rate():
    # 50 fresh at 2, 20 cached at 0.5, 10 written at 2.5, 20 written for an hour at 4, 30 out at 8 dollars a million
    tokens = Tokens(prompt=100, cached=20, written=10, written_1h=20, completion=30)
    assert cost(tokens, RATES) == pytest.approx((100 + 10 + 25 + 80 + 240) / 1e6)


def test_a_cache_write_kept_for_an_hour_is_not_billed_at_the_five_minute_rate():
    hour = Tokens(prompt=1000, cached=0, written=0, written_1h=1000, completion=0)
    minutes = Tokens(prompt=1000, cached=0, written=1000, written_1h=0, completion=0)
    sonnet = listed_price("claude-sonnet-4-5", "https://api.anthropic.com/v1/")
    assert cost(hour, sonnet) == pytest.approx(0.006)
    assert cost(minutes, sonnet) == pytest.approx(0.00375)
    assert cost(hour, own_price({"input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15})) is None


def test_an_unknown_price_is_null_and_never_zero():
    tokens = Tokens(prompt=10, cached=0, completion=10)
    assert listed_price("gpt-unheard-of", OPENAI) is None
    assert cost(tokens, None) is None
    assert cost(tokens, Price(input=1.0)) is None
    assert cost(Tokens(prompt=10, cached=5, completion=0), Price(input=1.0, output=1.0)) is None
    assert cost(Tokens(prompt=10, completion=0), RATES) is None, "how much was cached, at another rate, is unknown"
    assert cost(Tokens(prompt=10, cached=11, completion=0), RATES) is None, "a part above the whole"
    assert cost(Tokens(prompt=10, completion=10), Price(input=1.0, output=1.0)) == pytest.approx(2e-5)


def test_what_runs_on_this_machine_is_known_to_be_free():
    assert cost(Tokens(prompt=10, cached=3, completion=10), FREE) == 0.0


def test_a_price_belongs_to_a_model_at_an_endpoint_and_carries_its_date_and_source():
    assert listed_price("gpt-4.1", OPENAI).cached_input == 0.5
    assert listed_price("gpt-4.1", "http://localhost:8000/v1") is None
    assert listed_price("gpt-4o-2024-05-13", OPENAI) is None, "a snapshot that is not listed may cost twice as much"
    table = prices._table()
    assert len(table) >= 12
    for price in table.values():
        assert len(price.date) == 10
        assert price.source
        assert 0 < price.cached_input < price.input < price.output


def test_an_own_price_is_checked():
    assert own_price({"input": 1, "output": 2}).output == 2
    with pytest.raises(ValueError, match=r"price\.inptu: unknown \(did you mean 'input'\?\)"):
        own_price({"inptu": 1})
    for bad in (-1, float("nan"), "2", True):
        with pytest.raises(ValueError, match=r"price\.output: expected US dollars"):
            own_price({"output": bad})
    assert set(CLASSES) == {"input", "cached_input", "cache_write", "cache_write_1h", "output"}


def test_a_budget_stops_at_its_limit_in_money_and_in_tokens():
    money = Budget(usd=0.01)
    money.spend(Usage(1, 10, 0, 10, 0.0099))
    money.check()
    money.spend(Usage(1, 10, 0, 10, 0.0002))
    with pytest.raises(BudgetExceeded, match=r"budget\.usd: 0\.0101 of 0\.01 US dollars spent"):
        money.check()
    with pytest.raises(BudgetExceeded, match="0 of 0 tokens"):
        Budget(tokens=0).check()


def test_a_budget_that_can_no_longer_be_kept_stops_the_run():
    tokens = Budget(tokens=10_000)
    tokens.spend(Usage(1, None, None, None, 0.0))
    with pytest.raises(BudgetExceeded, match="did not report"):
        tokens.check()


def test_a_budget_in_money_without_a_price_is_refused_at_the_start():
    with pytest.raises(ValueError, match=r"budget\.usd.*price of 'm' is unknown.*price\.input"):
        Budget(usd=1.0).require_price(known=False, model="m")
    Budget(tokens=5).require_price(known=False, model="m")
    with pytest.raises(ValueError, match=r"budget\.tokens: expected 0 or more"):
        Budget(tokens=-1)
