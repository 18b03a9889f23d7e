import csv
import io
import json
from dataclasses import replace

import pytest

from trajaudit.analysis.result import Comparison, Denominator, Estimate
from trajaudit.reports import Column, Row, Table, bounds_table, comparison_table, denominator_table, render, write
from trajaudit.reports.scorecard_tables import (
    confusion_table,
    cost_table,
    detection_table,
    localisation_table,
    scorecard_tables,
    summary_table,
    type_recall_table,
)
from trajaudit.reports.table import lay_out

PRINTED = ("md", "tex", "txt")


def one_cell(cell: object) -> Table:
    return Table("t", "T", (Column("who", "who", "text"), Column("f1", "F1")), (Row(("rules", cell)),))  # type: ignore[arg-type]


def csv_rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(table, "csv"))))


@pytest.mark.parametrize("fmt", PRINTED)
def test_an_interval_stands_beside_its_estimate(fmt):
    assert "0.766 [0.700, 0.826]" in render(one_cell(Estimate(0.7657, 0.69999, 0.8257, 175)), fmt)


@pytest.mark.parametrize("fmt", PRINTED)
def test_an_undefined_value_is_a_dash_with_its_reason_and_never_a_zero(fmt):
    text = render(one_cell(Estimate(None, reason="all labels are 1")), fmt)
    assert "all labels are 1" in text
    assert ("---" if fmt == "tex" else "—") in text
    assert "0.000" not in text


def test_an_undefined_value_is_null_in_json_and_empty_in_csv():
    table = one_cell(Estimate(None, reason="all labels are 1"))
    cell = json.loads(render(table, "json"))["rows"][0]["f1"]
    assert cell["value"] is None
    assert cell["reason"] == "all labels are 1"
    assert csv_rows(table)[0]["f1"] == ""


def test_equal_reasons_share_a_footnote_and_different_ones_do_not():
    cells = [Estimate(None, reason=reason) for reason in ("one", "two", "one")]
    table = Table("t", "T", (Column("a", "A"),), tuple(Row((cell,)) for cell in cells))
    assert lay_out(table).footnotes == (("a", "one"), ("b", "two"))


def test_files_for_machines_carry_full_precision():
    table = one_cell(Estimate(2 / 3, 1 / 7, 6 / 7, 21, "Wilson"))
    row = csv_rows(table)[0]
    assert [float(row[key]) for key in ("f1", "f1_low", "f1_high")] == [2 / 3, 1 / 7, 6 / 7]
    assert (row["f1_n"], row["f1_method"]) == ("21", "Wilson")
    cell = json.loads(render(table, "json"))["rows"][0]["f1"]
    assert (cell["value"], cell["low"], cell["n"], cell["level"]) == (2 / 3, 1 / 7, 21, 0.95)


@pytest.mark.parametrize("cell", [float("nan"), Estimate(float("inf")), Estimate(0.5, float("nan"), 0.6)])
def test_a_number_that_is_none_is_refused_by_table_row_and_column(cell):
    with pytest.raises(ValueError, match="table 't': row 0: f1: expected a finite number"):
        one_cell(cell)


def test_a_name_with_markup_stays_a_name_in_markdown():
    line = render(
        Table("t", "T", (Column("a", "A", "text"),), (Row(("a|b <img src=x> *c* `d`",)),)), "md"
    ).splitlines()[4]
    assert line == r"| a\|b &lt;img src=x&gt; \*c\* \`d\` |"


def test_latex_escapes_its_special_characters_and_uses_booktabs():
    table = Table("my_key", "50 % & more", (Column("a", "A_b", "text"),), (Row((r"x_1{y}#$~^\z",)),), notes=("× †",))
    text = render(table, "tex")
    for expected in (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\caption{50 \% \& more}",
        r"A\_b",
        r"\label{tab:my-key}",
    ):
        assert expected in text
    assert r"x\_1\{y\}\#\$\textasciitilde{}\textasciicircum{}\textbackslash{}z \\" in text
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")


def test_every_format_is_written_from_one_source(tmp_path, cards):
    paths = write(summary_table(cards), tmp_path, "table_1")
    assert [path.name for path in paths] == [f"table_1.{fmt}" for fmt in ("md", "tex", "csv", "json")]
    assert "0.800 [0.500, 0.950]" in paths[0].read_text()
    assert "0.800 [0.500, 0.950]" in paths[1].read_text()


def test_every_table_says_who_is_counted_and_under_which_convention(card):
    cards = [card("a"), card("b"), card("c", answered=7, failed={"parse_fail": 2, "refused": 1})]
    text = render(summary_table(cards), "md")
    assert "Items of every other auditor: attempted 10, answered 10, failed 0, truncated 0." in text
    assert "Items of c: attempted 10, answered 7, failed 3 (parse_fail 2, refused 1), truncated 0." in text
    assert "Convention published" in text


def test_a_mean_over_whatever_items_exist_is_marked_listed_last_and_not_ranked(card):
    partial = card("partial", attempted=6, answered=6, f1=Estimate(0.99, 0.9, 1.0, 6))
    table = summary_table([partial, card("low", f1=Estimate(0.5, n=10)), card("high", f1=Estimate(0.7, n=10))])
    assert [(row.cells[0], row.cells[1]) for row in table.rows] == [("low", 2), ("high", 1), ("partial", None)]
    assert "partial †" in render(table, "md")
    assert "not ranked: attempted 6 of 10 items" in render(table, "md")
    assert csv_rows(table)[2]["incomplete"] == "attempted 6 of 10 items"


def test_leaving_failures_out_makes_an_auditor_incomplete_and_counting_them_as_clean_does_not(card):
    failed = {"answered": 5, "failed": {"parse_fail": 5}}
    assert summary_table([card("a"), card("b", "published", **failed)]).rows[1].incomplete is None
    rows = summary_table([card("a", "answered"), card("b", "answered", **failed)]).rows
    assert rows[1].incomplete == "answered 5 of 10 items"


def test_items_that_a_rerun_would_answer_make_an_auditor_incomplete(card):
    table = summary_table([card("a", answered=8, failed={"api_error": 2})])
    assert table.rows[0].incomplete == "2 of 10 items still to be answered"


def test_equal_f1_shares_a_rank(card):
    table = summary_table([card("a"), card("b"), card("c", f1=Estimate(0.1, n=10))])
    assert [row.cells[1] for row in table.rows] == [1, 1, 3]


def test_two_conventions_do_not_meet_in_one_table(card):
    with pytest.raises(ValueError, match="one convention, got answered and published"):
        detection_table([card("a"), card("a", "answered")])


def test_trivial_step_baselines_stand_beside_the_auditors(card):
    table = localisation_table([card("a", step_first=Estimate(0.1, n=6), step_prior=Estimate(0.3, n=6))])
    cells = dict(zip([column.header for column in table.columns], table.rows[0].cells, strict=True))
    assert (cells["exact step"].value, cells["always first"].value, cells["most frequent"].value) == (0.75, 0.1, 0.3)
    assert "read nothing" in render(table, "md")


def test_an_unknown_price_is_a_dash_and_a_free_one_is_zero(card):
    table = cost_table([card("a", usd=Estimate(None, reason="no price known")), card("b", usd=Estimate(0.0, n=10))])
    usd = [column.key for column in table.columns].index("usd")
    assert [row[usd].plain[0] for row in lay_out(table).rows] == ["—", "0"]


def test_confusion_counts_what_was_missed(card):
    table = confusion_table(card("a"))
    assert [column.key for column in table.columns] == ["true_type", "wrong_tool", "premature_stop", "missed"]
    assert [row.cells for row in table.rows] == [("wrong_tool", 2, 1, 0), ("premature_stop", 0, 1, 2)]


def test_per_type_recall_has_false_alarms_beside_it(cards):
    header = [column.header for column in type_recall_table(cards).columns]
    assert header == ["auditor", "wrong_tool", "premature_stop", "false alarms on clean"]


def test_every_table_of_a_report_renders_in_every_format(cards):
    for table in [*scorecard_tables(cards), denominator_table(cards)]:
        for fmt in ("md", "tex", "csv", "json", "txt"):
            assert render(table, fmt)


DIFFERENCE = Estimate(0.3371, 0.26, 0.41, 175, "paired bootstrap")


@pytest.mark.parametrize(
    ("p", "p_holm", "word"),
    [(0.001, 0.004, "survives"), (0.04, 0.12, "not shown"), (0.001, None, "not adjusted"), (None, None, "undefined")],
)
def test_only_an_adjusted_p_value_lets_a_comparison_survive(p, p_holm, word):
    table = comparison_table(
        [Comparison("silent_recall", "a", "b", DIFFERENCE, "McNemar", p, p_holm, 0.08, "all pairs")]
    )
    assert table.rows[0].cells[-1] == word
    assert "+0.337 [+0.260, +0.410]" in render(table, "md")


def test_a_p_value_exactly_at_the_level_does_not_survive():
    table = comparison_table([Comparison("recall", "a", "b", DIFFERENCE, "McNemar", 0.05, 0.05)])
    assert table.rows[0].cells[-1] == "not shown"


def test_both_conventions_of_an_auditor_stand_next_to_each_other(card):
    table = denominator_table([card("a"), card("b"), card("a", "answered"), card("b", "answered")])
    expected = [("a", "published"), ("a", "answered"), ("b", "published"), ("b", "answered")]
    assert [row.cells[:2] for row in table.rows] == expected


def test_bounds_are_listed_where_failures_could_move_a_metric(card):
    moved = replace(card("a"), bounds={"f1": (0.7, 0.85), "loud_recall": (1.0, 1.0)}, denominator=Denominator(10, 8))
    assert [(row.cells[1], *row.cells[4:]) for row in bounds_table([moved]).rows] == [("f1", 0.7, 0.85)]
