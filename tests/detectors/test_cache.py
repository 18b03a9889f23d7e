"""The Arrow cache: made once, by whoever comes first, and read from wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

hf = pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.cache import Cache  # noqa: E402

COLUMNS = {"value": hf.Value("int32")}


def doubled(items):
    return [{"value": 2 * item} for item in items]


def unasked(items):
    raise AssertionError(f"asked for {items} again")


def test_a_row_is_made_once_and_new_ones_are_added(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "tokens", {"recipe": 1}, COLUMNS)
    assert cache.fill({"a": 1, "b": 2}, doubled) == 2
    assert cache.fill({"a": 1, "b": 2}, unasked) == 0
    assert cache.fill({"b": 2, "c": 3}, doubled) == 1
    assert list(cache.rows(["c", "a", "c"])["value"]) == [6, 2, 6]


def test_another_recipe_has_rows_of_its_own(tmp_path: Path) -> None:
    Cache(tmp_path, "tokens", {"recipe": 1}, COLUMNS).fill({"a": 1}, doubled)
    assert Cache(tmp_path, "tokens", {"recipe": 2}, COLUMNS).fill({"a": 5}, doubled) == 1


def test_a_moved_cache_is_read_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    Cache(tmp_path / "here", "tokens", {}, COLUMNS).fill({"a": 1}, doubled)
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert Cache(tmp_path / "there", "tokens", {}, COLUMNS).fill({"a": 1}, unasked) == 0


def test_a_writer_that_was_killed_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "tokens", {}, COLUMNS)
    cache.fill({"a": 1}, doubled)
    (cache.folder / ".half.123").mkdir()
    assert list(cache.rows(["a"])["value"]) == [2]


def test_a_row_that_was_never_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        Cache(tmp_path, "tokens", {}, COLUMNS).rows(["a"])
