"""Trajel's ledger: every cell is accounted for, and what differs has its cause."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from trajaudit.datasets.trajel import trajel
from trajaudit.reports.trajel import ledger
from trajaudit.verbs.recipes.trajel import sides_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lines(data_dir: Path):
    if not (data_dir / "trajel" / "annotations.csv").is_file():
        pytest.skip(f"trajel/annotations.csv is not in {data_dir}")
    published = yaml.safe_load((ROOT / "experiments" / "trajel" / "published.yaml").read_text())
    made = ledger(published, sides_of(trajel(data_dir=str(data_dir))), resamples=200)
    return {line.key: line for line in made}


def test_three_figures_differ_and_each_says_why(lines) -> None:
    differing = {key: line.note for key, line in lines.items() if line.verdict == "differs"}
    assert set(differing) == {"models.Model_7.scope", "conclusion_f1.referential", "conclusion_f1.logical"}
    assert all(differing.values())


def test_a_reading_is_stated_wherever_the_obvious_one_gives_another_number(lines) -> None:
    read = {key: line.note for key, line in lines.items() if line.verdict == "same under a stated reading"}
    assert read["tasks.5"] == 'mentions of "Task 5"; 41 runs with lists read whole'
    assert read["components.response"] == "exact spelling; 60 with misspelt ones"


def test_everything_else_is_the_same_to_its_printed_digits(lines) -> None:
    kinds = {line.verdict for line in lines.values()}
    assert kinds == {"same", "same under a stated reading", "differs", "not reproducible here"}
    assert sum(line.verdict == "same" for line in lines.values()) == 201


def test_every_estimate_that_is_no_count_has_an_interval(lines) -> None:
    for key in ("confusion.cohen_kappa", "kappa.scope.kappa", "detection.factual.f1", "disagreement.mean_jaccard"):
        estimate = lines[key].estimate
        assert estimate.low < estimate.value < estimate.high
