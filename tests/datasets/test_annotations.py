"""Sheets come back as files: all of them are read, or the one at fault is named."""

import json
from dataclasses import replace

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError
from trajaudit.annotation import Annotation, Location
from trajaudit.datasets.annotations import by_trajectory, labelled, read_annotations
from trajaudit.datasets.sampling import draw_sample
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import Fault, Label

RUNS = [make_run(f"t{i}", f"g{i}", Label(i % 4 != 0, (Fault("wrong_tool", 0),) if i % 4 else ())) for i in range(40)]


def put(folder, name: str, one: Annotation) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(one.to_json()))


def said(run, who: str, present: bool = True) -> Annotation:
    places, types = ((Location(1, "action"),), ("wrong_tool",)) if present else ((), ())
    return Annotation(run.id, run.content_hash, "support_desk", who, present, places, types)


def test_a_folder_of_files_becomes_labels_in_place_of_the_old_ones(tmp_path) -> None:
    put(tmp_path / "in", "a.json", said(RUNS[0], "Ann"))
    put(tmp_path / "in", "b.json", said(RUNS[1], "Ann", present=False))
    put(tmp_path / "in", "c.json", said(RUNS[1], "Bo"))
    found, receipt, files = read_annotations([tmp_path / "in"], RUNS, SUPPORT_DESK)
    assert len(found) == len(files) == receipt.kept == 3
    (run,) = labelled(RUNS, by_trajectory(found), receipt)
    assert run == replace(RUNS[0], label=Label(True, (Fault("wrong_tool", 1, "action"),), origin="human"))
    assert receipt.dropped == {"annotators evenly split": 1}


def test_the_same_file_twice_counts_once_and_a_contradiction_is_refused(tmp_path) -> None:
    put(tmp_path / "in", "a.json", said(RUNS[0], "Ann"))
    put(tmp_path / "in", "a (1).json", replace(said(RUNS[0], "Ann"), saved="2026-01-01T00:00:00Z"))
    found, receipt, _ = read_annotations([tmp_path / "in"], RUNS, SUPPORT_DESK)
    assert (len(found), receipt.dropped) == (1, {"saved twice": 1})
    put(tmp_path / "in", "z.json", said(RUNS[0], "Ann", present=False))
    with pytest.raises(RecordError, match=r"z\.json: 'Ann' says something else of 't0' than in .*; keep one"):
        read_annotations([tmp_path / "in"], RUNS, SUPPORT_DESK)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", r"x\.json: not valid JSON"),
        (b'{"form": NaN}', r"x\.json: not valid JSON"),
        (json.dumps(said(make_run("t"), "A").to_json()).encode(), r"trajectory_id: 't' is not in the dataset"),
        (json.dumps(said(make_run("t1", steps=2), "A").to_json()).encode(), r"x\.json: content_hash: expected"),
    ],
)
def test_a_file_that_does_not_belong_is_named(tmp_path, content: bytes, message: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(RecordError, match=message):
        read_annotations([tmp_path / "x.json"], RUNS, SUPPORT_DESK)


def test_a_missing_or_an_empty_folder_is_an_error(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(FileNotFoundError, match="answers: no"):
            read_annotations([path], RUNS, SUPPORT_DESK)


def test_a_larger_sample_goes_on_where_a_smaller_one_ended_whatever_the_order_of_the_source() -> None:
    ids = [run.id for run in draw_sample(RUNS, 12, seed=0)]
    assert ids[:5] == [run.id for run in draw_sample(RUNS[::-1], 5, seed=0)]
    assert ids != [run.id for run in draw_sample(RUNS, 12, seed=1)]
    assert len(draw_sample(RUNS, 99, seed=0)) == 40


def test_stratifying_draws_each_kind_alike_and_plain_sampling_keeps_the_base_rate() -> None:
    by_stratum = [run.label.faulty for run in draw_sample(RUNS, 10, 0, "stratum") if run.label]
    assert sum(by_stratum) == 5
    assert sum(run.label.faulty for run in draw_sample(RUNS, 40, 0) if run.label) == 30
    with pytest.raises(ValueError, match="n: expected at least 1, got 0"):
        draw_sample(RUNS, 0, 0)


def test_a_set_that_a_stratum_does_not_part_is_not_stratified_in_silence() -> None:
    with pytest.raises(ValueError, match="stratify: all runs are alike in 'model'"):
        draw_sample(RUNS, 5, 0, "model")
