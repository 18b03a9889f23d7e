"""Trajel's annotations: locations as people write them, and a table that is checked while it is read."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from trajaudit._fields import RecordError
from trajaudit.datasets.trajel import COLUMNS, read_annotations, trajel, types_in
from trajaudit.location import numbers_after_task, parse_location
from trajaudit.taxonomy import TRAJEL


@pytest.fixture(scope="module")
def table(data_dir: Path):
    if not (data_dir / "trajel" / "annotations.csv").is_file():
        pytest.skip(f"trajel/annotations.csv is not in {data_dir}")
    return trajel(data_dir=str(data_dir))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Task 3 and 7, Thought", {(3, "thought"), (7, "thought")}),
        ("Task 2, Action and Response; Task 3, Action", {(2, "action"), (2, "response"), (3, "action")}),
        ("Task 2, 4, 6, 8; Action/Response", {(n, c) for n in (2, 4, 6, 8) for c in ("action", "response")}),
        ("Task 6, Action 2", {(6, "action")}),
        ("Task2, Task 5 and Task8", {(2, None), (5, None), (8, None)}),
        ("Task 4, Final Response", {(4, "response")}),
        ("Task 3 & Task 9", {(3, None), (9, None)}),
        ("Task3 Action, Task 6, Task 7", {(3, "action"), (6, None), (7, None)}),
        ("Task 4 action and respone, Task 5", {(4, "action"), (4, "response"), (5, None)}),
        ("Task 3 Agent, Task3 thought, action observation", {(3, "thought"), (3, "action"), (3, "observation")}),
        (
            "Task 1, Action: Look Up; Task 2, Thought: the response was unsure of sensor 9",
            {(1, "action"), (2, "thought")},
        ),
        ("Multiple places: Task 3 (Action), Task 4 (Thought)", {(3, "action"), (4, "thought")}),
        ("Task 1 and Task 2, both in the agent's response", {(1, "response"), (2, "response")}),
        ("All tasks", {(None, None)}),
        ("", set()),
    ],
)
def test_a_location_is_read_as_it_was_meant(text: str, places: set) -> None:
    assert {(place.task, place.component) for place in parse_location(text)} == places


def test_a_location_that_names_no_task_is_refused() -> None:
    with pytest.raises(RecordError, match="expected text that names a task, got 'somewhere in the middle'"):
        parse_location("somewhere in the middle")


def test_counting_mentions_of_the_word_loses_the_rest_of_a_list() -> None:
    assert numbers_after_task("Task 3 and 7, Thought; Task 8, Action") == [3, 8]


def test_every_location_of_the_table_is_read_and_their_counts_are_the_corrected_ones(table) -> None:
    tasks = Counter(task for row in table.rows for task in {place.task for place in row.human.places})
    assert {task: tasks[task] for task in range(1, 9)} == {1: 35, 2: 44, 3: 63, 4: 48, 5: 41, 6: 24, 7: 17, 8: 12}
    mentions = Counter(number for row in table.rows for number in numbers_after_task(row.human.location))
    assert {n: mentions[n] for n in range(1, 9)} == {1: 36, 2: 44, 3: 63, 4: 43, 5: 37, 6: 21, 7: 14, 8: 9}


def test_the_table_is_the_papers(table) -> None:
    pairs = Counter((row.judge.hallucinates, row.human.hallucinates) for row in table.rows)
    assert (pairs[False, False], pairs[False, True], pairs[True, False], pairs[True, True]) == (35, 12, 36, 141)
    assert Counter(row.reviewer for row in table.rows) == {"Columbia": 148, "IBM": 77}
    assert len(table.questions) == len({row.question for row in table.rows}) == 42
    assert sum(len(row.human.types) for row in table.rows) == 247


def test_what_does_not_fit_together_is_kept_and_said(table) -> None:
    kinds = Counter((lint.side, lint.kind) for lint in table.lints)
    assert kinds["human", "no binary label"] == 1
    assert kinds["human", "label contradicts types"] == 4
    assert kinds["judge", "label contradicts types"] == 2
    assert next(lint.uid for lint in table.lints if lint.kind == "no binary label") == "Model_7_Q_603"
    assert not [lint for lint in table.lints if lint.kind == "type was cleaned to something else"]


def written(tmp_path: Path, **changed: str) -> Path:
    row = dict.fromkeys(COLUMNS, "") | {"UID": "M_Q", "Agree/Disagree": "agree", "Agent_Eval_Hallucination": "False"}
    path = tmp_path / "annotations.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(row | changed)
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Agree/Disagree": "maybe"}, "Agree/Disagree: expected one of agree, disagree, partial, got 'maybe'"),
        ({"Human_Eval_Hallucination": "yes"}, "Human_Eval_Hallucination: expected one of True, False, an empty cell"),
        ({"Human_Eval_Hallucination_Type_Clean": "scop"}, "unknown fault type 'scop' (did you mean 'scope'?)"),
    ],
)
def test_a_broken_cell_is_named_by_file_line_and_column(tmp_path: Path, changed: dict, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        list(read_annotations(written(tmp_path, **changed), []))
    assert message in str(caught.value)
    assert "annotations.csv:2" in str(caught.value)


def test_a_type_that_cleaning_lost_is_a_lint(tmp_path: Path) -> None:
    lints: list = []
    cells = {"Human_Eval_Hallucination_Type": "scope, Factual ", "Human_Eval_Hallucination_Type_Clean": "scope"}
    list(read_annotations(written(tmp_path, Human_Eval_Hallucination="True", **cells), lints))
    assert [lint.kind for lint in lints] == ["type was cleaned to something else"]


@pytest.mark.parametrize("text", ["['scope', 'logical']", '"logical",\n   "scope"', "scope,logical", " Logical  scope"])
def test_uncleaned_types_are_read_whatever_surrounds_them(text: str) -> None:
    assert types_in(text) == {"scope", "logical"} <= set(TRAJEL.types)
