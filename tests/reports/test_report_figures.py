import csv
import hashlib

import matplotlib.pyplot as plt
import pytest

from trajaudit.analysis.result import Estimate
from trajaudit.reports import build
from trajaudit.reports.figures import confusion_matrices, cost_quality, frontier, recall_by_stratum, save
from trajaudit.reports.figures.cost import Point
from trajaudit.reports.figures.style import wrapped


def point(name: str, cost: float | None, quality: float | None, incomplete: str | None = None) -> Point:
    return Point(name, Estimate(cost), Estimate(quality), incomplete)


def test_every_figure_is_written_as_pdf_and_png_with_its_data_beside_it(tmp_path, cards):
    for draw in build.FIGURES:
        paths = save(draw(cards), tmp_path)
        assert [path.suffix for path in paths] == [".pdf", ".png", ".csv", ".json"]
        assert paths[0].read_bytes().startswith(b"%PDF")
        assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(tmp_path, cards):
    digests = [
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in save(cost_quality(cards), tmp_path / name)]
        for name in ("first", "second")
    ]
    assert digests[0] == digests[1]


def test_the_callers_plot_settings_neither_change_a_figure_nor_are_changed(tmp_path, cards):
    plain = save(recall_by_stratum(cards), tmp_path / "plain")[1].read_bytes()
    with plt.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert save(recall_by_stratum(cards), tmp_path / "loud")[1].read_bytes() == plain
        assert plt.rcParams["font.size"] == 30


def test_the_data_beside_a_figure_are_the_estimates_it_draws(tmp_path, cards):
    path = save(recall_by_stratum(cards), tmp_path)[2]
    row = next(csv.DictReader(path.open()))
    assert (row["auditor"], float(row["silent_recall"]), float(row["silent_recall_low"])) == ("step", 0.5, 0.15)


def test_an_undefined_recall_has_a_dash_and_no_mark(card):
    undefined = {"silent_recall": Estimate(None, reason="no silent faults")}
    marks = [len(recall_by_stratum([card("a", **metrics)]).figure.axes[0].lines) for metrics in ({}, undefined)]
    assert marks == [6, 4]
    texts = [text.get_text() for text in recall_by_stratum([card("a", **undefined)]).figure.axes[1].texts]
    assert "—" in texts


def test_each_series_has_a_marker_of_its_own_for_greyscale(card):
    axes = recall_by_stratum([card("a")]).figure.axes[0]
    assert {line.get_marker() for line in axes.lines} == {"None", "o", "D", "x"}


def test_the_frontier_drops_what_is_dearer_and_no_better():
    points = [point("cheap", 1, 0.6), point("worse", 2, 0.5), point("dear", 9, 0.9), point("dearer", 10, 0.9)]
    assert [p.auditor for p in frontier(points)] == ["cheap", "dear"]


def test_equal_auditors_are_both_on_the_frontier():
    assert len(frontier([point("a", 1, 0.6), point("b", 1, 0.6)])) == 2


def test_an_unknown_cost_or_other_items_keep_an_auditor_off_the_frontier():
    points = [point("unknown", None, 0.99), point("partial", 0, 0.99, "attempted 6 of 10 items"), point("a", 5, 0.5)]
    assert [p.auditor for p in frontier(points)] == ["a"]


def test_a_cost_of_zero_is_drawn_left_of_every_other(card):
    axes = cost_quality([card("free", seconds=Estimate(0.0)), card("paid", seconds=Estimate(0.01))]).figure.axes[0]
    markers = {line.get_marker(): line.get_xdata()[0] for line in axes.lines if line.get_marker() not in ("None", "")}
    assert 0 < markers["o"] < 0.01 == markers["D"]
    assert axes.get_xticklabels()[0].get_text() == "0"


def test_an_unknown_cost_metric_is_refused_by_name(cards):
    with pytest.raises(ValueError, match="cost: expected one of seconds"):
        cost_quality(cards, cost="euro")


def test_confusion_shows_a_panel_an_auditor_and_no_number_for_nothing(cards):
    figure = confusion_matrices(cards).figure
    panels = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert [ax.get_title(loc="left") for ax in panels] == ["step", "outcome"]
    assert [text.get_text() for text in panels[0].texts] == ["2", "1", "", "", "1", "2"]


def test_a_name_with_mathematics_or_control_characters_is_drawn_as_text(tmp_path, card):
    hostile = card("$\\frac{1}{0}$ \u202e\nname" + "x" * 60)
    for draw in build.FIGURES:
        assert save(draw([hostile]), tmp_path)


def test_a_long_name_breaks_at_its_own_separators():
    assert wrapped("self_consistency:view=outcome,k=5", 20) == "self_consistency:\nview=outcome,k=5"


def test_where_no_outcome_is_known_the_main_figure_shows_pooled_recall(card):
    unknown = {name: Estimate(None, reason="no fault is known to be") for name in ("silent_recall", "loud_recall")}
    drawing = recall_by_stratum([card("a", **unknown)])
    assert [column.key for column in drawing.table.columns] == ["auditor", "recall", "false_alarm"]
    assert "0.667" in [text.get_text() for text in drawing.figure.axes[1].texts]
