"""The command line refuses what cannot be right before anything loads, and says what would have been."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trajaudit import cli
from trajaudit._log import AppendLog
from trajaudit.composing import arguments, composed
from trajaudit.config import Choice, ConfigError, validate


def trajaudit(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trajaudit.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=120)


def test_alone_it_lists_every_verb_with_a_line() -> None:
    done = trajaudit()
    assert done.returncode == 0
    for verb, line in cli.verbs().items():
        assert line.endswith(".")
        assert f"{verb} " in done.stdout
        assert line in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fech"], "no such verb 'fech' (did you mean 'fetch'?)"),
        (["annotate", "exprot"], "annotate: expected export or import after it, got 'exprot' (did you mean 'export'?)"),
        (["annotate"], "annotate: expected export or import after it"),
        (["annotate", "export", "seeds=1"], "seeds: unknown key (did you mean 'seed'?)"),
        (["fetch", "dataset=trajectory_judg"], "no such dataset 'trajectory_judg' (did you mean 'trajectory_judge'?)"),
        (["fetch", "datset=jsonl"], "datset: unknown key (did you mean 'dataset'?)"),
        (["fetch", "dataset.dat_dir=x"], "dataset.dat_dir: unknown key (did you mean 'data_dir'?)"),
        (["fetch", "timeout_s=soon"], "timeout_s: input should be a valid number, got 'soon'"),
        (["fetch", "dataset=jsonl"], "dataset.path: Missing mandatory value: path"),
        (["fetch", "experiment=dem"], "no such experiment 'dem' (did you mean 'demo'?)"),
        (["fetch", "+dataset.colour=red"], "dataset.colour: unknown key"),
        (["fetch", "-m", "dataset=trajectory_judge,foo"], "no such dataset 'foo'"),
        (
            ["generate", "judge=rules"],
            "judge: it is no choice of this verb; known: dataset, launcher, paths, experiment",
        ),
        (["annotate", "import"], "answers: Missing mandatory value: answers\n"),
        (["reproduce", "experiment=demo"], "(an experiment sets it: "),
        (["fetch", "dataset=attacked", "dataset@dataset.base=attackd"], "no such dataset 'attackd'"),
    ],
)
def test_a_wrong_override_is_one_line_with_the_nearest_name(args: list[str], message: str) -> None:
    done = trajaudit(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", sorted(cli.verbs()))
def test_every_verb_shows_its_config_and_its_help(verb: str) -> None:
    shown, helped = trajaudit(*verb.split(), "--cfg", "job"), trajaudit(*verb.split(), "--help")
    assert shown.returncode == helped.returncode == 0
    assert "_target_: trajaudit.verbs." in shown.stdout
    assert f"trajaudit {verb}" in helped.stdout


def test_an_error_in_a_job_is_one_line_and_the_whole_trace_on_request(tmp_path: Path) -> None:
    args = ("score", f"paths.output_dir={tmp_path}")
    short = trajaudit(*args, HYDRA_FULL_ERROR="0")
    assert (short.returncode, short.stderr[:7], short.stderr.count("\n")) == (1, "error: ", 1)
    assert "Traceback" in trajaudit(*args, HYDRA_FULL_ERROR="1").stderr


def test_a_failing_job_ends_no_sweep(tmp_path: Path) -> None:
    dead = ("llm=endpoint", "llm.model=m", "llm.base_url=http://127.0.0.1:9/v1", "llm.retries=0")
    places = (f"paths.output_dir={tmp_path}", "dataset.n=8")
    done = trajaudit("judge", "-m", "judge=step,rules", *dead, *places, HYDRA_FULL_ERROR="0")
    assert done.returncode != 0
    assert "8 api_error" in done.stdout
    assert "rules: 8 items: 8 ok" in done.stdout


def test_a_folder_in_use_is_one_line(tmp_path: Path) -> None:
    trajaudit("judge", f"paths.output_dir={tmp_path}", "dataset.n=8")
    (folder,) = tmp_path.glob("judge/*/*")
    with AppendLog(folder / "attempts.jsonl"):
        done = trajaudit("judge", f"paths.output_dir={tmp_path}", "dataset.n=8", HYDRA_FULL_ERROR="0")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"in use by process {os.getpid()}" in done.stderr


def test_a_judge_of_ones_own_is_one_module_and_one_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "my_judges.py").write_text(
        "from trajaudit.auditor import spec_hash\n"
        "from trajaudit.verdict import Verdict\n\n"
        "class LongRuns:\n"
        "    def __init__(self, *, most: int = 6) -> None:\n"
        "        self.name, self.most, self.spec = 'long_runs', most, {'judge': 'long_runs', 'most': most}\n"
        "    async def judge(self, run):\n"
        "        flag = len(run.steps) > self.most\n"
        "        return Verdict(run.id, run.content_hash, self.name, spec_hash(self.spec), faulty=flag)\n"
    )
    (tmp_path / "my_conf" / "judge").mkdir(parents=True)
    (tmp_path / "my_conf" / "judge" / "long_runs.yaml").write_text("_target_: my_judges.LongRuns\nmost: 6\n")
    command = [
        sys.executable,
        "-m",
        "trajaudit.cli",
        "judge",
        "judge=long_runs",
        "dataset.n=8",
        "paths.output_dir=outputs",
        "--config-dir",
        "my_conf",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "long_runs: 8 items: 8 ok" in done.stdout, done.stderr
    swept = [part.replace("judge=long_runs", "judge=rules,long_runs") for part in command]
    done = subprocess.run([*swept, "-m"], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (done.returncode, "rules: 8 items: 8 ok" in done.stdout) == (0, True), done.stderr
    wrong = subprocess.run([*command, "judge.mots=3"], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "judge.mots: unknown key (did you mean 'most'?)" in wrong.stderr


def test_every_value_of_a_sweep_is_checked_before_the_first_job(tmp_path: Path) -> None:
    done = trajaudit("judge", "-m", "dataset.n=8,abc", f"paths.output_dir={tmp_path}")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "dataset.n: input should be a valid integer, got 'abc'" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["generate", "foo"], "foo: expected key=value"),
        (["generate", "dataset.cascades=nan"], "dataset.cascades: "),
        (["generate", "paths.output_dir=null"], "got None"),
        (["reproduce"], "Missing mandatory value: name (an experiment sets it: "),
        (["judge", "limit=-3"], "limit: expected at least 1, got -3"),
        (["judge", "judge.flagged=2"], "judge.flagged: expected a confidence in [0.5, 1], got 2"),
        (["judge", "judge=step", "llm.threads=0"], "llm.threads: expected at least 1, got 0"),
        (["judge", "judge=step", "judge.temperature=-1"], "judge.temperature: expected a number in [0, 2], got -1"),
        (["judge", "judge=step", "llm.model_path=/etc/passwd"], "llm.model_path: expected a GGUF file"),
        (["score", "stats.seed=-1"], "stats.seed: expected 0 or more, got -1"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(args: list[str], message: str, tmp_path: Path) -> None:
    place = [] if "paths.output_dir=null" in args else [f"paths.output_dir={tmp_path}"]
    done = trajaudit(*args, *place, HYDRA_FULL_ERROR="0")
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_config_composes_in_a_notebook_any_number_of_times(tmp_path: Path) -> None:
    async def in_a_running_loop() -> int:
        return cli.run("judge", "dataset.n=4", f"paths.output_dir={tmp_path}")

    assert asyncio.run(in_a_running_loop()) == 0
    for _ in range(2):
        kwargs = arguments(composed("fetch", ["dataset=jsonl", "dataset.path=runs.jsonl"]))
        assert isinstance(kwargs["dataset"], Choice)
        assert kwargs["dataset"].config["path"] == "runs.jsonl"


def test_tab_completion_answers_for_verbs_and_their_overrides(tmp_path: Path) -> None:
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "trajaudit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trajaudit.cli "$@"\n')
    (bin_dir / "trajaudit").chmod(0o755)
    script = """
        eval "$(trajaudit --completion)"
        ask() {
            COMP_WORDS=($1 "$2"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$1 $2"
            _trajaudit; echo "${COMPREPLY[@]}"
        }
        ask trajaudit fet
        ask "trajaudit fetch" dataset=trajec
        ask "trajaudit annotate" imp
        ask "trajaudit annotate export" dataset=trajec
    """
    env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, timeout=120)
    assert done.stdout.split() == ["fetch", "dataset=trajectory_judge", "import", "dataset=trajectory_judge"], (
        done.stderr
    )


def toy(*, n: int, share: float = 0.5, kinds: tuple[str, ...] = (), name: str | None = None) -> dict:
    return {"n": n, "share": share, "kinds": kinds, "name": name}


TOY = f"{__name__}.toy"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n": "3"}, "judge.n: input should be a valid integer, got '3'"),
        ({"n": True}, "judge.n: input should be a valid integer, got True"),
        ({"n": 3, "share": "half"}, "judge.share: input should be a valid number, got 'half'"),
        ({"n": 3, "kinds": ["a", 1]}, "judge.kinds.1: input should be a valid string"),
        ({"n": 3, "nam": "x"}, r"judge.nam: unknown key (did you mean 'name'?); known: n, share, kinds, name"),
    ],
)
def test_the_signature_of_the_target_is_the_schema(values: dict, message: str) -> None:
    validate({"_target_": TOY, "n": 3, "share": 1, "kinds": ["a"], "name": None}, "judge")
    with pytest.raises(ConfigError) as caught:
        validate({"_target_": TOY, **values}, "judge")
    assert message in str(caught.value)


def test_what_only_the_run_knows_is_added_where_the_target_asks_for_it() -> None:
    choice = Choice("judge", {"_target_": TOY, "share": 0.25})
    assert choice.build(n=4, taxonomy="not asked for")["n"] == 4
    with pytest.raises(ConfigError, match=r"judge\.n: missing"):
        choice.build()


def test_help_shows_a_verbs_own_choices_its_config_and_which_keys_take_few_values(tmp_path: Path) -> None:
    done = trajaudit("generate", "dataset=asset_ops", "--help")
    assert "trajaudit generate: Write a dataset's labelled trajectories" in done.stdout
    assert "dataset.preset=single|varied|mixture" in done.stdout
    assert "judge=" not in done.stdout
    wrong = trajaudit("generate", "dataset=asset_op", "--help")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
