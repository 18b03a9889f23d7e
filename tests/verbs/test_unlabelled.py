"""A set that nobody has labelled goes from judging to a page, and is never scored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trajaudit.cli import run
from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.trajectory import write_jsonl


@pytest.fixture
def told(tmp_path: Path) -> tuple[str, ...]:
    write_jsonl(tmp_path / "runs.jsonl", (replace(one, label=None) for one in generate("paper", 8, 0)))
    return ("dataset=jsonl", f"dataset.path={tmp_path / 'runs.jsonl'}", f"paths.output_dir={tmp_path}")


def test_an_unlabelled_set_is_judged_and_shown(told, tmp_path: Path) -> None:
    for judge in ("always", "never"):
        assert run("judge", *told, f"judge={judge}") == 0
    assert run("report", *told) == 0
    (page,) = tmp_path.glob("report/*/*/report.html")
    assert "Nobody has said what is true of these runs" in page.read_text()
    table = (page.parent / "tables" / "flags.md").read_text()
    assert "| always_faulty | 8 | 8 | 8 | 1.000 [" in table
    assert "no run of this set is labelled" in table


def test_an_unlabelled_set_is_not_scored_and_the_way_to_see_it_is_said(told) -> None:
    run("judge", *told, "judge=never")
    with pytest.raises(ValueError, match="nothing to score against; `trajaudit report` shows the runs"):
        run("score", *told)
