"""What can be checked in a sentence, and when two spellings are one value."""

from __future__ import annotations

import pytest

from trajaudit.judges.claim_facts import unit_of
from trajaudit.judges.claim_values import readings, values
from trajaudit.testbeds.support_desk.locales import LOCALES, to_number, written


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_an_amount_is_the_same_however_its_country_writes_it(locale: str) -> None:
    for units in (5, 99, 1234, 123456, 123456789):
        amount = to_number(units, LOCALES[locale].digits)
        (found,) = [value for value in values(f"We paid back {written(units, locale)}.") if value.kind == "number"]
        assert found.fits(amount, "", 1.0), (found, amount)
        assert not found.fits(amount + 1, "", 1.0)


def test_a_number_is_matched_to_the_precision_that_it_is_written_with() -> None:
    (claimed,) = values("It rose to 27.1 °C.")
    assert claimed.fits(27.13, "temperature", 1)
    assert not claimed.fits(27.2, "temperature", 1)
    assert values("about 33 kV")[0].fits(33_000, "voltage", 1)


def test_units_of_one_dimension_convert_and_of_two_never_fit() -> None:
    (hours,) = values("It takes 2 hours.")
    assert hours.fits(120, "time", 60)
    assert hours.fits(2, "", 1)  # a field that says no unit: the digits decide
    assert not hours.fits(2, "time", 86400)
    assert not hours.fits(2, "percent", 1)


def test_a_percentage_fits_the_fraction_that_a_field_holds() -> None:
    (claimed,) = values("with a confidence of 60.8 %")
    assert claimed.fits(0.608)
    assert not claimed.fits(0.61)
    assert not claimed.fits(0.608, "percent", 1)  # a field in per cent holds 60.8


def test_spelled_numbers_count_only_with_a_unit() -> None:
    assert values("within five working days")[0].fits(5, "time", 86400)
    assert values("one of them is new") == ()


def test_what_points_at_a_step_states_nothing() -> None:
    assert values("The rate is high (Step 4 and 5).") == ()


def test_a_mark_between_three_digits_is_read_both_ways() -> None:
    assert readings("1.234") == ((1234.0, 1.234), 3)
    assert readings("0.123") == ((0.123,), 3)
    assert readings("1.234.567") == ((1234567.0,), 0)


def test_dates_are_compared_as_dates() -> None:
    assert [value.text for value in values("on May 3, 2026 and on 3 May")] == ["2026-05-03", "-05-03"]
    assert [value.kind for value in values("2026-05-05T07:44:39Z, on Friday")] == ["date", "date"]


@pytest.mark.parametrize(
    ("key", "unit"),
    [("payout_days", ("time", 86400)), ("days_since_purchase", ("time", 86400)), ("slope_per_day", ("", 1.0))],
)
def test_a_key_names_its_unit(key: str, unit: tuple[str, float]) -> None:
    assert unit_of(key) == unit
