"""Other people's traces: one bad line costs one run."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError, dumps
from trajaudit.datasets.traces import BROKEN, read_traces


def lines(*ids: str) -> list[str]:
    return [dumps(make_run(name).to_json()) for name in ids]


def test_a_torn_line_is_named_with_file_and_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join([*lines("a", "b"), '{"id": "c", "gro', *lines("d"), "", '{"id": 7}']))
    runs, receipt = read_traces(path)
    assert [run.id for run in runs] == ["a", "b", "d"]
    assert (receipt.read, receipt.kept, receipt.dropped) == (6, 3, {BROKEN: 3})
    assert [note.partition(": ")[0] for note in receipt.notes] == [f"{path}:{line}" for line in (3, 5, 6)]


def test_a_second_run_under_an_id_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines("a", "b", "a")))
    runs, receipt = read_traces(path)
    assert [run.id for run in runs] == ["a", "b"]
    assert receipt.notes == [f"{path}:3: id: duplicate id 'a'"]


def test_a_packed_file_that_was_cut_off_gives_what_is_whole_of_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    whole = gzip.compress(("\n".join(lines(*map(str, range(200)))) + "\n").encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    runs, receipt = read_traces(path)
    assert 0 < len(runs) < 200
    assert "expected a whole gzip file" in receipt.notes[-1]


def test_a_file_without_any_run_is_an_error_that_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"spans": []}\n')
    with pytest.raises(RecordError, match=r"mine.jsonl:1.*spans"):
        read_traces(path)
    path.write_text("")
    with pytest.raises(RecordError, match="expected at least one line, got none"):
        read_traces(path)
    with pytest.raises(FileNotFoundError, match="traces: no such file"):
        read_traces(tmp_path / "none.jsonl")
