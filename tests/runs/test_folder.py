"""A run folder is named by what was asked, says what happened in it, and belongs to one process at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml

import trajaudit
from trajaudit._fields import file_hash
from trajaudit._log import LogLocked
from trajaudit.runs.folder import RunFolder, config_hash
from trajaudit.runs.manifest import code_identity, without_secrets

CONFIG = {"judge": {"view": "step", "k": 3}, "seed": 0, "concurrency": 8, "paths": {"output_dir": "a"}}
DATA = {"trajectories.jsonl": "0" * 64}


def opened(root, config=CONFIG, data=DATA, **settings) -> RunFolder:
    return RunFolder.open(root, "judge", "demo", config, data=data, seeds={"seed": 0}, **settings)


def written(folder: RunFolder) -> dict[str, int]:
    """When each file was last written, the lock apart."""
    return {file.name: file.stat().st_mtime_ns for file in folder.path.iterdir() if file.suffix != ".lock"}


def manifest(folder: RunFolder) -> dict:
    return json.loads((folder.path / "manifest.json").read_text())


def test_the_same_command_finds_its_own_folder_and_is_a_no_op_when_done(tmp_path):
    with opened(tmp_path) as first:
        assert not first.done
        (first.path / "verdicts.jsonl").write_text("x")
    before = written(first)
    with opened(tmp_path) as second:
        assert (second.path, second.done) == (first.path, True)
    assert written(first) == before


def test_the_folder_lies_where_the_layout_says(tmp_path):
    with opened(tmp_path) as folder:
        assert folder.path == tmp_path / "judge" / "demo" / config_hash(CONFIG)


def test_what_cannot_change_a_result_is_not_part_of_the_name():
    moved = CONFIG | {"concurrency": 64, "paths": {"output_dir": "b"}}
    assert config_hash(moved) == config_hash(CONFIG)
    assert config_hash(CONFIG | {"seed": 1}) != config_hash(CONFIG)
    below = {"llm": {"model": "m", "concurrency": 8}}
    assert config_hash(below, ("llm.concurrency",)) == config_hash(
        {"llm": {"model": "m", "concurrency": 9}}, ("llm.concurrency",)
    )
    assert config_hash(below, ("llm.concurrency",)) != config_hash({"llm": {"model": "n"}}, ("llm.concurrency",))
    assert config_hash(below, ("llm",)) == config_hash({})


def test_two_jobs_of_a_sweep_at_the_same_moment_do_not_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("trajaudit.runs.folder.now", lambda: "2026-01-01T00:00:00+00:00")
    with opened(tmp_path) as one, opened(tmp_path, CONFIG | {"seed": 1}) as two:
        assert one.path != two.path


def test_a_second_process_in_one_folder_is_refused_with_the_first_ones_number(tmp_path):
    with opened(tmp_path), pytest.raises(LogLocked, match=f"in use by process {os.getpid()}"):
        opened(tmp_path)
    with opened(tmp_path) as again:
        assert again.done


def test_changed_data_are_not_done(tmp_path):
    with opened(tmp_path):
        pass
    with opened(tmp_path, data={"trajectories.jsonl": "1" * 64}) as changed:
        assert not changed.done
        assert not (changed.path / ".done").exists()
    with opened(tmp_path, data={"trajectories.jsonl": "1" * 64}) as again:
        assert again.done


def test_a_failed_run_says_why_and_is_resumed(tmp_path):
    with pytest.raises(KeyError), opened(tmp_path) as folder:
        raise KeyError("model")
    assert (manifest(folder)["status"], manifest(folder)["error"]) == ("failed", "KeyError: 'model'")
    with opened(tmp_path) as again:
        assert not again.done
        assert manifest(again)["status"] == "running"
        assert manifest(again)["error"] is None
    assert manifest(again)["status"] == "done"


def test_a_run_that_its_budget_stopped_is_not_done(tmp_path):
    with opened(tmp_path) as folder:
        folder.fail("budget.usd is spent")
    assert (manifest(folder)["status"], manifest(folder)["error"]) == ("failed", "budget.usd is spent")
    with opened(tmp_path) as again:
        assert not again.done


def test_a_killed_run_is_left_running_and_resumed(tmp_path):
    """Nothing but the marker of a finished run stops a resume: a status of a dead process is no evidence."""
    code = (
        "import os, sys\nfrom trajaudit.runs.folder import RunFolder\n"
        "folder = RunFolder.open(sys.argv[1], 'judge', 'demo', {'seed': 0})\nos.kill(os.getpid(), 9)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env).returncode == -9
    with RunFolder.open(tmp_path, "judge", "demo", {"seed": 0}) as folder:
        assert not folder.done
        attempts = [json.loads(line) for line in (folder.path / "attempts.jsonl").read_text().splitlines()]
    assert len(attempts) == 2
    assert attempts[0]["pid"] != attempts[1]["pid"] == os.getpid()
    assert manifest(folder)["status"] == "done"


def test_the_manifest_says_what_the_run_was(tmp_path):
    with opened(tmp_path, command=["trajaudit", "judge", "seed=0"]) as folder:
        pass
    said = manifest(folder)
    assert said["code"]["version"] == trajaudit.__version__
    assert (said["data"], said["seeds"], said["command"]) == (DATA, {"seed": 0}, ["trajaudit", "judge", "seed=0"])
    assert said["machine"]["cpu_count"] == os.cpu_count()
    assert said["machine"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert said["packages"]["numpy"]
    assert said["started"] <= said["finished"]
    assert yaml.safe_load((folder.path / "config.yaml").read_text()) == CONFIG
    assert not list(folder.path.glob("*.part"))


def test_the_commit_is_named_where_the_code_runs_from_a_checkout():
    said = code_identity()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=os.path.dirname(trajaudit.__file__), capture_output=True, text=True
    )
    tracked = head.returncode == 0
    assert said["git_commit"] == (head.stdout.strip() if tracked else None)
    assert isinstance(said["git_dirty"], bool) == tracked


def test_no_key_from_the_environment_reaches_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret-0123456789")
    config = CONFIG | {"llm": {"header": "Bearer sk-verysecret-0123456789"}}
    with (
        pytest.raises(RuntimeError),
        opened(tmp_path, config, command=["trajaudit", "llm.key=sk-verysecret-0123456789"]) as folder,
    ):
        raise RuntimeError("401: bad key sk-verysecret-0123456789")
    for file in folder.path.iterdir():
        assert "verysecret" not in file.read_text(), file.name
    assert "${OPENAI_API_KEY}" in manifest(folder)["error"]


def test_short_and_harmless_variables_change_nothing(monkeypatch):
    monkeypatch.setenv("A_KEY", "step")
    monkeypatch.setenv("HOME_NAME", "something-long-enough")
    assert without_secrets("view=step something-long-enough") == "view=step something-long-enough"


@pytest.mark.parametrize("name", ["../up", "", "a/b", ".hidden", "a b"])
def test_a_name_that_is_no_folder_name_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="run folder: expected a name"):
        RunFolder.open(tmp_path, "judge", name, CONFIG)


def test_a_number_that_json_lacks_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError):
        opened(tmp_path, CONFIG | {"rate": float("nan")})
    assert not list(tmp_path.iterdir())


def test_a_file_is_known_by_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_hash(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
