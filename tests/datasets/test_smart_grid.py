"""Real runs become records: both shapes, from the packed file and from a clone alike, judgments kept apart."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from trajaudit._fields import RecordError, dumps
from trajaudit.datasets.smart_grid import FILES, smart_grid, smart_grid_judgments
from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.trajectory import Action

FLAGS = ("task_completion", "data_retrieval_accuracy", "generalized_result_verification")
FORM = dict.fromkeys((*FLAGS, "agent_sequence_correct", "clarity_and_justification"), True)
SCENARIO = {
    "id": "SGT-1",
    "type": "WO",
    "text": "Check T-1.",
    "category": "c",
    "characteristic_form": "names a fault",
    "difficulty": "easy",
}


@pytest.fixture(scope="module")
def folder(data_dir: Path) -> Path:
    if not (data_dir / FILES[0]).is_file():
        pytest.skip(f"{FILES[0]} is not in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def runs(folder: Path):
    return smart_grid(data_dir=str(folder))


@pytest.fixture(scope="module")
def clone(folder: Path, tmp_path_factory) -> Path:
    """The excerpt of a clone. One of its logs names run03, whose bytes are those of run02, which alone was packed."""
    root = tmp_path_factory.mktemp("clone")
    with tarfile.open(folder / "smart_grid" / "clone_excerpt.tar.xz") as archive:
        archive.extractall(root, filter="data")
    (second,) = root.glob("benchmarks/*/raw/8998341*/*_run02.json")
    shutil.copy(second, str(second).replace("run02", "run03"))
    return root


def form(hallucinates: bool = False, **changed: Any) -> dict[str, Any]:
    return FORM | {"hallucinations": hallucinates, "suggestions": "", "judge_model": "j"} | changed


def packed(tmp_path: Path, record: dict[str, Any], *judgments: dict[str, Any], **changed: Any) -> str:
    """Write a packed file of one run and return its data folder."""
    full = {"question": "Check T-1.", "answer": "Fine.", "success": True, "scenario": SCENARIO, **record}
    row = {"run_id": "0a", "run_name": "n", "cohort": None, "scenario_id": "SGT-1", "agent_model": "m"}
    row |= {"judgments": list(judgments) or [form()], "record": full, **changed}
    (tmp_path / "smart_grid").mkdir()
    with gzip.open(tmp_path / FILES[0], "wt") as file:
        file.write(json.dumps(row) + "\n")
    return str(tmp_path)


def executed(**changed: Any) -> dict[str, Any]:
    step = {"step": 1, "task": "List them", "server": "iot", "tool": "list_assets", "tool_args": {}, "response": "[1]"}
    return step | {"error": None, "success": True} | changed


def test_every_run_is_kept_and_only_settled_labels_are_given(runs) -> None:
    labels = Counter(None if run.label is None else run.label.faulty for run in runs)
    assert labels == {True: 1141, False: 1087, None: 16}
    assert {run.label.origin for run in runs if run.label} == {"judge"}
    assert (runs.receipt.read, runs.receipt.kept, runs.receipt.dropped) == (2244, 2244, {})
    assert runs.receipt.inferred["judged more than once"] == 251
    assert runs.receipt.inferred["label left out (the judge gave both)"] == 16
    assert len({run.group for run in runs}) == 31


def test_judgments_are_a_record_of_their_own(runs, folder: Path) -> None:
    judgments = smart_grid_judgments(data_dir=str(folder))
    assert set(judgments) == {run.id for run in runs}
    assert sum(map(len, judgments.values())) == 3688
    assert all(set(one.flags) == set(EXECUTION_FLAGS) for of_run in judgments.values() for one in of_run)
    assert sum(len(of_run) > 1 for of_run in judgments.values()) == 251


def test_no_fed_text_says_what_the_judge_said(runs, folder: Path) -> None:
    judgments = smart_grid_judgments(data_dir=str(folder))
    shared = set()
    for run in runs:
        fed = dumps([run.id, run.group, run.task, [step.to_json() for step in run.steps], run.final_answer])
        assert "hallucinat" not in fed.lower()
        shared |= {(run.id, one.suggestions) for one in judgments[run.id] if one.suggestions and one.suggestions in fed}
    # Once the judge repeated a sentence of the answer that it read.
    ((run_id, sentence),) = shared
    assert sentence in next(run.final_answer for run in runs if run.id == run_id)


def test_a_clone_gives_the_records_of_the_packed_file(runs, clone: Path, folder: Path) -> None:
    by_id = {run.id: run for run in runs}
    cloned = smart_grid(clone=str(clone))
    assert len(list(cloned)) == 4
    for run in cloned:
        assert run == by_id[run.id]
        assert run.content_hash == by_id[run.id].content_hash
    judgments = smart_grid_judgments(data_dir=str(folder))
    assert all(judgments[key] == given for key, given in smart_grid_judgments(clone=str(clone)).items())


def test_a_score_is_the_one_that_the_harness_printed(clone: Path) -> None:
    judgments = [one for of_run in smart_grid_judgments(clone=str(clone)).values() for one in of_run]
    printed = [json.loads(path.read_text())["score_6d"] for path in clone.glob("results/judge_logs/*/*.json")]
    assert sorted(round(one.score, 4) for one in judgments) == sorted(printed)


def test_what_the_judge_was_shown_is_measured_as_its_prompt_cut_it(runs, clone: Path) -> None:
    saw_all = {run.id: run.source.meta["judge_saw_all"] for run in smart_grid(clone=str(clone))}
    logs = [json.loads(path.read_text()) for path in clone.glob("results/judge_logs/*/*.json")]
    assert sorted(saw_all.values()) == sorted("...(truncated)" not in log["prompt_user"] for log in logs)


def test_a_log_whose_run_is_absent_is_counted(clone: Path, tmp_path: Path) -> None:
    shutil.copytree(clone, tmp_path / "c")
    next((tmp_path / "c").glob("benchmarks/*/raw/8998341*/*_run03.json")).unlink()
    assert smart_grid(clone=str(tmp_path / "c")).receipt.dropped == {"judge log whose run file is absent": 1}


def test_a_plan_and_a_verifiers_remark_are_steps_of_their_own(tmp_path: Path) -> None:
    plan = [{"step": 1, "task": "List", "server": "iot", "tool": "list_assets", "dependencies": []}]
    plan += [{"step": 2, "task": "Say", "server": "wo", "tool": "none", "dependencies": [1]}]
    checked = executed(verifier_decision="retry", verifier_reason="empty", verifier_updated_focus="T-1")
    told = executed(tool="none", server="wo", response="All is well.")
    (run,) = smart_grid(data_dir=packed(tmp_path, {"plan": plan, "history": [checked, told]}))
    assert [step.agent for step in run.steps] == ["planner", "iot", "verifier", "wo"]
    assert run.steps[0].action == Action(text="1. [iot] list_assets: List\n2. [wo] none: Say (after 1)")
    assert (run.steps[1].thought, run.steps[1].observation) == ("List them", "[1]")
    assert (run.steps[2].thought, run.steps[2].action) == ("empty", Action(text="retry; focus: T-1"))
    assert (run.steps[3].action, run.steps[3].observation) == (Action(text="All is well."), None)
    assert run.reference == "names a fault"


def test_each_call_of_a_turn_is_a_step_and_the_answer_is_none(tmp_path: Path) -> None:
    calls = [
        {"name": "a", "arguments": {"x": 1}, "call_id": "1", "output": {"type": "text", "text": "one"}},
        {"name": "b", "arguments": {}, "call_id": "2", "output": [{"id": 2}]},
    ]
    turns = [
        {"turn": 1, "role": "assistant", "content": "Look.", "tool_calls": calls},
        {"turn": 2, "role": "assistant", "content": "Fine.", "tool_calls": []},
    ]
    (run,) = smart_grid(data_dir=packed(tmp_path, {"history": turns, "turn_count": 2}))
    assert [step.action for step in run.steps] == [Action("a", {"x": 1}), Action("b", {})]
    assert [step.observation for step in run.steps] == ["one", [{"id": 2}]]
    assert [step.thought for step in run.steps] == ["Look.", None]
    assert run.final_answer == "Fine."


def test_a_run_that_broke_off_has_its_error_as_its_only_step(tmp_path: Path) -> None:
    folder = packed(tmp_path, {"history": [], "turn_count": 0, "answer": "", "error": "MaxTurnsExceeded"})
    (run,) = smart_grid(data_dir=folder)
    assert [step.observation for step in run.steps] == [{"error": "MaxTurnsExceeded"}]
    assert run.final_answer is None


def test_a_run_with_both_labels_has_none(tmp_path: Path) -> None:
    data = smart_grid(data_dir=packed(tmp_path, {"history": [executed()]}, form(True), form(False)))
    assert [run.label for run in data] == [None]
    assert data.receipt.inferred["label left out (the judge gave both)"] == 1


def test_a_bare_nan_is_kept_as_the_word_that_the_agent_read(tmp_path: Path) -> None:
    data = smart_grid(data_dir=packed(tmp_path, {"history": [executed(tool_args={"hours": float("nan")})]}))
    (run,) = data
    assert run.steps[0].action == Action("list_assets", {"hours": "NaN"})
    assert data.receipt.inferred["a bare NaN or Infinity, which is not JSON (kept as that word)"] == 1


@pytest.mark.parametrize(
    ("record", "judgment", "message"),
    [
        ({"history": [executed(tool_args=[])]}, {}, r"gz:1: record\.history\[0\]\.tool_args: expected an object"),
        ({"history": [executed(verdict=1)]}, {}, r"gz:1: record\.history\[0\]: unknown key 'verdict'"),
        ({"history": [executed()]}, {"hallucinations": "false"}, r"judgments\[0\]\.hallucinations: expected true or"),
        ({"history": [executed()], "sucess": 1}, {}, r"record: unknown key 'sucess' \(did you mean 'success'"),
    ],
)
def test_an_error_names_file_line_and_key(tmp_path: Path, record, judgment, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        smart_grid(data_dir=packed(tmp_path, record, form(**judgment)))


@pytest.mark.parametrize("outside", ["../secret.json", "/etc/hostname"])
def test_a_log_never_leads_out_of_its_clone(clone: Path, tmp_path: Path, outside: str) -> None:
    shutil.copytree(clone, tmp_path / "c")
    path = next((tmp_path / "c").glob("results/judge_logs/*/*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"trajectory_file": outside}))
    with pytest.raises(RecordError, match="trajectory_file: expected a path inside the clone"):
        smart_grid(clone=str(tmp_path / "c"))


def test_a_packed_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / FILES[0]
    path.parent.mkdir()
    for content in (gzip.compress(b"{}\n")[:12], b"no gzip"):
        path.write_bytes(content)
        with pytest.raises(RecordError, match=r"runs\.jsonl\.gz: expected a whole gzip file: "):
            smart_grid_judgments(data_dir=str(tmp_path))
