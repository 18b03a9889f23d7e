"""Every figure that the testbed paper printed, recomputed from its released verdicts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from trajaudit.analysis import score, tabulate
from trajaudit.trajectory import Fault, Label, Source, Step, Trajectory
from trajaudit.verdict import Usage, Verdict

DATA = Path(os.environ.get("TRAJAUDIT_DATA") or Path(__file__).parents[3] / "shared" / "data")
FACTS = Path(__file__).parents[2] / "experiments" / "trajectory_judge" / "published.yaml"
FOLDER = DATA / "trajectory_judge"
pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the released verdicts of the testbed paper are not at hand"
)


def trajectory(row) -> Trajectory:
    label = row["label"]
    faults = (Fault(label["failure_type"], label["failure_step"]),) if label["faulty"] else ()
    return Trajectory(
        row["trajectory_id"],
        row["instance_id"],
        row["goal"],
        tuple(Step(step["index"]) for step in row["steps"]),
        row["final_answer"],
        Source("trajectory_judge"),
        Label(label["faulty"], faults, label["outcome_correct"]),
    )


def verdict(row) -> Verdict:
    return Verdict(
        row["trajectory_id"],
        "",
        row["judge_id"],
        "",
        faulty=row["faulty"],
        score=row["confidence"] if row["faulty"] else 1 - row["confidence"],
        step=row["failure_step"],
        types=(row["failure_type"],) if row["failure_type"] else (),
        confidence=row["confidence"],
        usage=Usage(1, row["prompt_tokens"], 0, row["completion_tokens"], None),
        latency_s=row["latency_s"],
    )


@pytest.fixture(scope="module")
def facts():
    return yaml.safe_load(FACTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cards():
    rows = {
        name: [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("trajectories", "verdicts")
    }
    items, answers = tabulate(map(trajectory, rows["trajectories"]), map(verdict, rows["verdicts"]))
    return {card.auditor: card for card in score(items, answers, reference="programmatic")}


def printed(estimate, digits):
    return None if estimate.value is None else f"{estimate.value:.{digits}f}"


def test_the_summary_table_is_rebuilt_to_its_printed_digits(facts, cards):
    summary = facts["summary"]
    names = [*summary["columns"][:-1], "seconds"]
    for auditor, card in cards.items():
        for name, value in zip(names, summary[auditor], strict=True):
            digits = 1 if name == "seconds" else 3
            estimate = card.metrics[name]
            assert printed(estimate, digits) == (None if value is None else f"{value:.{digits}f}"), (auditor, name)
            assert value is None or estimate.low <= estimate.value <= estimate.high


def test_the_pooled_recall_of_the_outcome_judge_is_rebuilt(facts, cards):
    pooled = cards["outcome:qwen2.5:14b"].metrics["recall"]
    assert printed(pooled, 3) == f"{facts['pooled_recall']['outcome:qwen2.5:14b']:.3f}"


def test_recall_by_type_is_rebuilt_to_its_printed_digits(facts, cards):
    table = facts["per_type_recall"]
    for i, auditor in enumerate(table["columns"]):
        for kind, estimate in cards[auditor].per_type_recall.items():
            assert printed(estimate, 2) == f"{table[kind][i]:.2f}", (auditor, kind)
        assert printed(cards[auditor].metrics["false_alarm"], 2) == f"{table['false_alarms_on_clean'][i]:.2f}"


def test_every_confusion_is_rebuilt_cell_by_cell(facts, cards):
    table = facts["confusion"]
    for auditor in (name for name in table if name != "columns"):
        for kind, row in cards[auditor].confusion.items():
            assert [row[column] for column in table["columns"]] == table[auditor][kind], (auditor, kind)


def test_everyone_answered_everything(facts, cards):
    for card in cards.values():
        assert (card.denominator.attempted, card.denominator.answered) == (facts["set"]["total"],) * 2
