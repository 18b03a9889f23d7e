"""Unlabelled runs can be read beside every verdict, and nothing about them is called a score."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from trajaudit.reports import Part, build_report, render
from trajaudit.reports.flag_counts import flag_count_table


@pytest.fixture
def unlabelled(runs):
    return [replace(run, label=None) for run in runs]


def test_flags_are_counted_and_accuracy_has_a_reason(unlabelled, verdicts) -> None:
    table = flag_count_table(unlabelled, verdicts)
    for row in table.rows:
        auditor, asked, answered, flagged, share, accuracy = row.cells
        own = [verdict for verdict in verdicts if verdict.auditor == auditor]
        assert asked == len(own)
        assert answered == sum(verdict.status == "ok" for verdict in own)
        assert flagged == sum(bool(verdict.faulty) for verdict in own if verdict.status == "ok")
        assert share.value == pytest.approx(flagged / answered)
        assert accuracy.value is None
    assert "no run of this set is labelled" in render(table, "md")


def test_an_unlabelled_set_is_reported_with_its_viewer(unlabelled, verdicts, tmp_path) -> None:
    page = build_report(tmp_path, title="Runs", parts=[Part("all", "All", unlabelled, verdicts, [])])
    text = page.read_text()
    assert "Nobody has said what is true of these runs" in text
    assert "whose faults are known" not in text
    assert unlabelled[0].id in text
    assert (tmp_path / "tables" / "flags.md").is_file()
    assert json.loads((tmp_path / "metrics.json").read_text())["parts"]["all"]["scorecards"] == []


def test_a_labelled_set_still_needs_its_scores(runs, verdicts, tmp_path) -> None:
    with pytest.raises(ValueError, match="every part that is labelled"):
        build_report(tmp_path, title="Runs", parts=[Part("all", "All", runs, verdicts, [])])
