"""The trajectory record refuses what would later be scored wrongly, and says where it stands."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import make_run

from trajaudit._fields import RecordError
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory, read_trajectories, write_jsonl

FIXTURES = Path(__file__).parents[1] / "fixtures"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def broken(tmp_path: Path, change) -> str:
    """Write one good and one changed record, and return the error that reading them gives."""
    obj = make_run("t2", label=Label(True, (Fault("wrong_tool", 1),), True)).to_json()
    change(obj)
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(make_run("t1").to_json()) + "\n" + json.dumps(obj) + "\n")
    with pytest.raises(RecordError) as caught:
        list(read_trajectories(path))
    return str(caught.value).removeprefix(f"{path}:")


@given(text=st.text(), observation=JSON, args=st.dictionaries(st.text(), JSON, max_size=3))
def test_a_record_survives_the_way_to_disk_and_back(text: str, observation: object, args: dict) -> None:
    steps = (Step(0, text, Action("t", args), observation, "agent"), Step(1, None, Action(text=text), text))
    run = Trajectory("id", "g", text, steps, text, Source("s", "m", "d", {"k": 1}), Label(False), reference=text)
    assert Trajectory.from_json(json.loads(json.dumps(run.to_json()))) == run


def test_a_file_of_version_1_is_still_read() -> None:
    (run,) = read_trajectories(FIXTURES / "trajectory_v1.jsonl")
    assert (run.id, run.label.stratum, run.steps[1].action.args) == ("t-0", "silent", {"order_id": "O-1"})
    assert run.content_hash == "b6354f232b4090bc2ab891b7b8cbaf72c390148b73c5267dbca8d0921fdd0e2a"


def test_duplicate_ids_are_refused_with_both_lines(tmp_path: Path) -> None:
    def change(obj):
        obj["id"] = "t1"

    assert broken(tmp_path, change) == "2: id: duplicate id 't1', first on line 1"


def test_an_empty_step_list_is_refused(tmp_path: Path) -> None:
    def change(obj):
        obj["steps"], obj["label"]["faults"] = [], []

    assert "2: t2: steps: expected at least one step, got []" in broken(tmp_path, change)


def test_a_label_past_the_last_step_is_refused(tmp_path: Path) -> None:
    def change(obj):
        obj["label"]["faults"][0]["step"] = 3

    assert "label.faults[0].step: expected 0 to 2 (the last step), got 3" in broken(tmp_path, change)


def test_one_numbering_is_owned_by_the_record(tmp_path: Path) -> None:
    def change(obj):
        obj["steps"][2]["index"] = 3  # a source that skipped a message would shift every later label

    assert "steps[2].index: expected 2 (indices count the steps from 0), got 3" in broken(tmp_path, change)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("label", "faulty"), "false", "2: label.faulty: expected true or false, got 'false'"),
        (("label", "faulty"), 0, "2: label.faulty: expected true or false, got 0"),
        (("steps", 1, "index"), "1", "2: steps[1].index: expected an integer, got '1'"),
        (("steps", 1, "index"), True, "2: steps[1].index: expected an integer, got True"),
        (("steps", 1, "action", "tool"), 5, "2: steps[1].action.tool: expected a string, got 5"),
        (("steps", 1, "action"), {}, "2: steps[1].action: expected either tool and args, or text; got keys []"),
        (("label", "faults", 0, "component"), "reply", "label.faults[0].component: expected one of thought, action"),
        (
            ("label", "origin"),
            "guess",
            "2: label.origin: expected one of construction, human, judge, rule, got 'guess'",
        ),
        (("version",), 9, "2: version: expected one of [1] (written by a newer trajaudit?), got 9"),
        (("tasks",), "x", "2: unknown key 'tasks' (did you mean 'task'?)"),
    ],
)
def test_an_error_names_line_key_expected_and_given(tmp_path: Path, path: tuple, value: object, message: str) -> None:
    def change(obj):
        for key in path[:-1]:
            obj = obj[key]
        obj[path[-1]] = value

    assert message in broken(tmp_path, change)


def test_a_missing_field_is_not_a_default(tmp_path: Path) -> None:
    assert "2: task: missing; expected a string" in broken(tmp_path, lambda obj: obj.pop("task"))


def test_a_torn_line_is_an_error_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(make_run().to_json()) + '\n{"id": "t2", "gro')
    with pytest.raises(RecordError, match=r"runs\.jsonl:2: not valid JSON"):
        list(read_trajectories(path))


def test_nan_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"id": NaN}\n')
    with pytest.raises(RecordError, match="NaN is not JSON"):
        list(read_trajectories(path))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_jsonl(tmp_path / "out.jsonl", [{"auc": float("nan")}])
    assert not list(tmp_path.glob("out*"))


def test_the_content_hash_sees_what_auditors_see_and_nothing_else() -> None:
    run = make_run("a", "g", Label(False))
    other = make_run("b", "h", Label(True, (Fault("wrong_tool", 0),), False))
    assert run.content_hash == other.content_hash
    changed = list(run.steps)
    changed[1] = Step(1, "thought 1", Action("lookup", {"n": 2}), {"ok": True, "n": 1})
    assert Trajectory("a", "g", run.task, tuple(changed), run.final_answer, run.source).content_hash != run.content_hash


def test_a_full_disk_leaves_the_old_file_and_names_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    write_jsonl(path, [make_run()])

    def records():
        yield make_run("t2")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"could not write .*runs\.jsonl \(No space left on device\) after 1 records"):
        write_jsonl(path, records())
    assert [run.id for run in read_trajectories(path)] == ["t1"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("label", "stratum"),
    [
        (Label(False, outcome_correct=True), "clean"),
        (Label(True, outcome_correct=True), "silent"),
        (Label(True, outcome_correct=False), "loud"),
        (Label(True, outcome_correct=None, origin="human"), "unknown"),
    ],
)
def test_the_stratum_follows_from_the_label(label: Label, stratum: str) -> None:
    assert label.stratum == stratum


def test_the_first_fault_is_the_earliest_and_unplaced_ones_come_last() -> None:
    faults = (Fault("a", None), Fault("b", 4), Fault("c", 0))
    assert Label(True, faults).first == faults[2]


def test_a_clean_label_cannot_list_faults() -> None:
    with pytest.raises(RecordError, match="faulty is false but 1 fault"):
        Label(False, (Fault("wrong_tool", 0),))
