import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajaudit.analysis.result import Estimate
from trajaudit.reports import Line, ledger_line, ledger_table, render, same, summary


@pytest.mark.parametrize(
    ("published", "ours", "expected"),
    [
        ("0.429", 75 / 175, True),
        ("0.43", 75 / 175, True),
        ("0.428", 75 / 175, False),
        ("0.430", 75 / 175, False),
        ("0.61", 0.451 * 175 / 300 + 0.84 * 125 / 300, True),
        ("50", 50, True),
        ("49", 50, False),
        ("0.0", 0.00002, True),
        ("0.000", -0.0001, True),
        ("1.000", 0.9995, True),
        ("30.2", 30.15, True),
    ],
)
def test_a_figure_is_the_same_at_its_printed_digits(published, ours, expected):
    assert same(published, ours) is expected


@pytest.mark.parametrize("published", ["0.062", "0.063"])
def test_a_tie_may_have_been_rounded_up_or_to_even(published):
    assert same(published, 0.0625)


@pytest.mark.parametrize("published", ["0.427", "0.428"])
def test_a_decimal_tie_may_have_been_rounded_as_the_binary_number_that_it_is(published):
    # 171 of 400 is 0.4275, whose nearest double lies just below: printf gives 0.427, decimal rounding 0.428
    assert f"{171 / 400:.3f}" == "0.427"
    assert same(published, 171 / 400)


@given(st.floats(-1000, 1000), st.integers(0, 6))
def test_whatever_python_prints_of_a_value_is_the_same_and_one_unit_further_is_not(value, digits):
    text = f"{value:.{digits}f}"
    assert same(text, value)
    assert not same(f"{float(text) + 2 * 10**-digits:.{digits}f}", value)


def test_a_published_figure_must_be_a_number():
    with pytest.raises(ValueError, match="expected a decimal number, got 'n/a'"):
        same("n/a", 0.5)


def test_what_the_paper_leaves_out_is_the_same_as_our_undefined():
    undefined = Estimate(None, reason="the judge names no step")
    assert ledger_line("step_exact", None, undefined).verdict == "same"
    assert ledger_line("step_exact", None, Estimate(0.5)).verdict == "differs"
    assert ledger_line("step_exact", "0.973", undefined).verdict == "differs"


def test_a_stated_reading_is_named_in_the_verdict_and_in_the_note():
    line = ledger_line("ece", "0.075", Estimate(0.0751), reading="bins closed above")
    assert (line.verdict, line.note) == ("same under a stated reading", "bins closed above")
    assert ledger_line("ece", "0.085", Estimate(0.0751), reading="bins closed above").verdict == "differs"


def test_the_summary_counts_every_kind():
    lines = [ledger_line("a", "1", 1), ledger_line("b", "1", 2), Line("c", "3", None, None, "not reproducible here")]
    assert summary(lines) == "3 figures: 1 same, 0 same under a stated reading, 1 differs, 1 not reproducible here."


def test_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match="a: verdict: expected one of same"):
        Line("a", "1", 1.0, None, "equal")


def test_the_ledger_shows_both_figures_and_the_interval_in_every_format():
    lines = [
        ledger_line("step/silent_recall", "0.766", Estimate(134 / 175, 0.7, 0.826, 175, "BCa")),
        ledger_line("n", "50", 50),
    ]
    table = ledger_table(lines)
    for fmt in ("md", "txt"):
        assert "0.766 [0.700, 0.826]" in render(table, fmt)
    rows = list(csv.DictReader(io.StringIO(render(table, "csv"))))
    assert (rows[0]["published"], float(rows[0]["ours"]), rows[0]["verdict"]) == ("0.766", 134 / 175, "same")
    assert rows[1]["ours"] == "50"


def test_the_terminal_ledger_is_aligned_and_ends_with_the_summary():
    text = render(
        ledger_table([ledger_line("short", "1", 1), ledger_line("a much longer key", "0.5", Estimate(0.5))]), "txt"
    )
    lines = text.splitlines()
    column = lines[2].index("published")
    assert [line[column - 2 : column] for line in lines[4:6]] == ["  ", "  "]
    assert lines[-1].startswith("2 figures: 2 same")
