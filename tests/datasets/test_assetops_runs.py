"""Real multi-agent runs become records with agents and reasoning steps, from the packed file and from a clone alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from trajaudit._fields import RecordError, lines
from trajaudit.datasets.assetops_runs import FILES, FOLDER, _arguments, assetops_runs
from trajaudit.trajectory import Action


@pytest.fixture(scope="module")
def runs(data_dir: Path):
    if not (data_dir / FILES[0]).is_file():
        pytest.skip(f"{FILES[0]} is not in {data_dir}")
    return assetops_runs(data_dir=str(data_dir))


def step(**changed: Any) -> dict[str, Any]:
    given = {"step": 1, "thought": "Look.", "action": "sites", "action_input": "{}", "observation": "[MAIN]"}
    return given | {"state": "Valid Action", "is_loop_detected": None} | changed


def cloned(root: Path, steps: list[dict[str, Any]], response: str = "MAIN") -> str:
    """Write a clone that holds one run of one task, with the prompts that the harness records around its loop."""
    log = {"type": "agent", "system_prompt": "…", "trajectroy_log": [one | {"llm_error": False} for one in steps]}
    log |= {"endstate": "", "final_answer": response, "reviews": ["Task Status: Accomplished"], "reflections": []}
    task = {"task_number": 1, "task_description": "List sites.", "agent_name": "IoT", "response": response, "logs": log}
    (root / FOLDER).mkdir(parents=True)
    text = json.dumps({"id": 1, "text": "What sites?", "trajectory": [task]})
    (root / FOLDER / "Q_1_trajectory.json").write_text(text)
    return str(root)


def test_all_runs_have_their_agents_and_no_label(runs) -> None:
    assert len(list(runs)) == 135
    assert {run.label for run in runs} == {None}
    agents = Counter(step.agent for run in runs for step in run.steps)
    assert agents["planner"] == 546  # one a task
    assert len(agents) == 5
    assert len({run.group for run in runs}) == 133  # two pairs of questions share their words


def test_the_systems_own_reviews_are_shown_to_nobody(runs) -> None:
    for run in runs:
        assert all(reviews for reviews in run.source.meta["reviews"])
        assert "Task Status: Accomplished" not in json.dumps([step.to_json() for step in run.steps])


def test_a_handed_out_task_and_the_loop_that_works_it_are_steps(tmp_path: Path) -> None:
    done = step(step=2, thought="Done.", action="Finish", action_input="MAIN", observation="")
    (run,) = assetops_runs(clone=cloned(tmp_path, [step(), done]))
    assert [one.agent for one in run.steps] == ["planner", "IoT", "IoT"]
    assert run.steps[0].action == Action(text="Task 1 to IoT: List sites.")
    assert (run.steps[1].action, run.steps[1].observation) == (Action("sites", {}), "[MAIN]")
    assert (run.steps[2].action, run.steps[2].observation) == (Action("Finish", {"answer": "MAIN"}), None)
    assert run.final_answer == "MAIN"


def test_what_was_handed_back_without_having_been_said_is_a_step(tmp_path: Path) -> None:
    (run,) = assetops_runs(clone=cloned(tmp_path, [step()], response="There is MAIN."))
    assert run.steps[-1].action == Action(text="There is MAIN.")


def test_code_in_the_place_of_a_call_is_free_text(tmp_path: Path) -> None:
    code = step(action=["a = 1\n", "print(a)"], action_input="")
    (run,) = assetops_runs(clone=cloned(tmp_path, [code]))
    assert run.steps[1].action == Action(text="a = 1\n\nprint(a)")


def test_a_clone_gives_the_record_of_the_packed_file(runs, data_dir: Path, tmp_path: Path) -> None:
    _, row = next(lines(data_dir / FILES[0]))
    (task,) = row["tasks"]
    log = {key: task[key] for key in ("final_answer", "endstate", "reviews", "reflections")}
    log |= {"trajectroy_log": task["steps"], "system_prompt": "…"}
    outer = {key: task[key] for key in ("task_number", "task_description", "agent_name", "response")}
    (tmp_path / FOLDER).mkdir(parents=True)
    path = tmp_path / FOLDER / Path(row["source_path"]).name
    path.write_text(json.dumps({"id": row["id"], "text": row["text"], "trajectory": [outer | {"logs": log}]}))
    (run,) = assetops_runs(clone=str(tmp_path))
    twin = next(iter(runs))
    assert run.content_hash == twin.content_hash
    assert (run.group, run.source) == (twin.group, twin.source)  # the id is the file's own hash, and this is a copy


def test_an_error_names_the_file_and_the_key(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"Q_1_trajectory\.json: tasks\[0\]\.steps\[0\]\.thought: expected a string"):
        assetops_runs(clone=cloned(tmp_path, [step(thought=7)]))


def test_a_folder_that_is_no_clone_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"dataset\.clone: no runs in .*Model_16"):
        assetops_runs(clone=str(tmp_path))


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e999}', "[" * 100_000, "[1]", "site"])
def test_arguments_that_no_record_can_hold_stay_the_text_they_were(text: str) -> None:
    assert _arguments(text) == {"input": text}


def test_a_file_of_a_clone_that_names_no_question_is_named(tmp_path: Path) -> None:
    root = cloned(tmp_path, [step()])
    (Path(root) / FOLDER / "Q_x.json").write_text("{}")
    with pytest.raises(RecordError, match=r"Q_x\.json: file name: expected Q_NUMBER_…\.json"):
        assetops_runs(clone=root)
