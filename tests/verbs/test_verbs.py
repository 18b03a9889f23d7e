"""The verbs as functions: what a command leaves behind, and what it says when something is not right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint, error

from trajaudit.composing import arguments, composed
from trajaudit.config import ConfigError, resolve
from trajaudit.runs import final_verdicts
from trajaudit.trajectory import read_trajectories
from trajaudit.verbs.collect import distinct, warnings
from trajaudit.verdict import Verdict


@pytest.fixture
def call(tmp_path: Path):
    """A function that does what ``trajaudit VERB overrides…`` does, in this process, with outputs in ``tmp_path``."""

    def called(verb: str, *overrides: str) -> int:
        cfg = composed(verb, [f"paths.output_dir={tmp_path}", *overrides])
        return resolve(cfg["_target_"], verb)(**arguments(cfg))

    return called


def one(tmp_path: Path, pattern: str) -> Path:
    (path,) = tmp_path.glob(pattern)
    return path


def test_generate_writes_the_set_its_receipt_and_its_manifest(call, tmp_path, capsys) -> None:
    assert call("generate", "dataset.preset=paper", "dataset.n=400", "dataset.seed=7") == 0
    assert "400 trajectories (100 clean, 175 silent, 125 loud)" in capsys.readouterr().out
    path = one(tmp_path, "**/trajectories.jsonl")
    assert len(list(read_trajectories(path))) == 400
    manifest = json.loads((path.parent / "manifest.json").read_text())
    assert (manifest["status"], manifest["seeds"]) == ("done", {"dataset": 7})
    before = path.stat().st_mtime_ns
    assert call("generate", "dataset.preset=paper", "dataset.n=400", "dataset.seed=7") == 0
    assert "already done" in capsys.readouterr().out
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("dataset.n=0", "dataset.n: expected at least 1 run, got 0"),
        ("dataset.preset=papr", "dataset.preset: input should be 'paper' or 'varied', got 'papr'"),
        ("dataset.procedure=support_dek", "unknown procedure 'support_dek' (did you mean 'support_desk'?)"),
        ("dataset.cascades=0.5", "dataset.cascades: 0.5 needs preset 'varied'"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_key(call, override: str, message: str) -> None:
    with pytest.raises((ConfigError, ValueError)) as caught:
        call("generate", override)
    assert message in str(caught.value)


def test_seed_0_is_a_seed(call, tmp_path) -> None:
    for seed in ("0", "0", "1"):
        call("generate", "dataset.n=8", f"dataset.seed={seed}")
    texts = {path.read_text() for path in tmp_path.glob("**/trajectories.jsonl")}
    assert len(texts) == 2


def test_a_set_of_ones_own_goes_the_same_way_as_a_generated_one(call, tmp_path, capsys) -> None:
    call("generate", "dataset.n=24")
    own = one(tmp_path, "**/trajectories.jsonl")
    dataset = ("dataset=jsonl", f"dataset.path={own}", "dataset.name=mine")
    assert call("judge", *dataset, "judge=always") == 0
    assert call("score", *dataset, "stats.resamples=100") == 0
    assert "always_faulty" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="needs a rule engine, and none knows the tools of dataset 'mine'"):
        call("judge", *dataset, "judge=rules")
    assert call("judge", *dataset, "judge=rules", "dataset.rules=support_desk") == 0


def test_scoring_without_verdicts_says_how_to_make_some(call) -> None:
    with pytest.raises(FileNotFoundError, match="run `trajaudit judge` with the same dataset first"):
        call("score", "dataset.n=8")


def test_verdicts_over_another_configuration_of_the_dataset_are_passed_over(call, capsys) -> None:
    call("judge", "dataset.n=24", "dataset.seed=1", "judge=always")
    call("judge", "dataset.n=24", "dataset.seed=2", "judge=never")
    call("score", "dataset.n=24", "dataset.seed=2", "stats.resamples=100")
    shown = capsys.readouterr().out
    assert "never_faulty" in shown.rpartition("Summary")[2]
    assert "always_faulty" not in shown.rpartition("Summary")[2]


def test_a_prefix_and_the_whole_set_give_one_verdict_each(call, tmp_path, capsys) -> None:
    call("judge", "dataset.n=24", "limit=8")
    call("judge", "dataset.n=24")
    assert call("score", "dataset.n=24", "stats.resamples=100") == 0
    assert "attempted 24, answered 24" in capsys.readouterr().out
    assert call("score", "dataset.n=24", "limit=8", "stats.resamples=100") == 0
    assert "attempted 8, answered 8" in capsys.readouterr().out


def test_what_was_asked_about_a_prefix_is_not_scored_against_the_whole_set(call, capsys) -> None:
    call("judge", "dataset.n=24")
    call("judge", "dataset.n=24", "judge=always", "limit=8")
    capsys.readouterr()
    call("score", "dataset.n=24", "stats.resamples=100")
    shown = capsys.readouterr()
    assert "always_faulty" not in shown.out
    assert "left out: always_faulty was asked about 8 of 24; limit=8 scores what it was asked about" in shown.err
    call("score", "dataset.n=24", "limit=8", "stats.resamples=100")
    assert "always_faulty" in capsys.readouterr().out


def test_unlabelled_runs_are_judged_and_shown_and_left_out_of_the_scores(call, tmp_path, capsys) -> None:
    call("generate", "dataset.n=8")
    rows = [json.loads(line) for line in one(tmp_path, "**/trajectories.jsonl").read_text().splitlines()]
    own = tmp_path / "mine.jsonl"
    own.write_text("".join(json.dumps(row | ({"label": None} if i < 3 else {})) + "\n" for i, row in enumerate(rows)))
    dataset = ("dataset=jsonl", f"dataset.path={own}", "stats.resamples=100")
    call("judge", *dataset[:2], "judge=always")
    capsys.readouterr()
    assert call("report", *dataset) == 0
    assert "not scored: 3 of 8 trajectories, which have no label" in capsys.readouterr().err
    assert rows[0]["id"] in one(tmp_path, "report/**/report.html").read_text()
    own.write_text("".join(json.dumps(row | {"label": None}) + "\n" for row in rows))
    with pytest.raises(ValueError, match="no trajectory of 'mine' is labelled"):
        call("score", *dataset)


def test_a_reference_without_verdicts_is_said(call, capsys) -> None:
    call("judge", "dataset.n=8")
    call("judge", "dataset.n=8", "judge=never")
    call("score", "dataset.n=8", "stats.resamples=100", "stats.reference=rulse")
    assert "no verdicts of the reference 'rulse' (did you mean 'rules'?)" in capsys.readouterr().err


def test_a_damaged_file_of_a_finished_run_is_an_error_and_not_a_finished_run(call, tmp_path) -> None:
    call("judge", "dataset.n=8")
    path = one(tmp_path, "judge/**/verdicts.jsonl")
    path.write_text(path.read_text().replace('"version":1', '"version":', 1))
    with pytest.raises(ValueError, match=r"verdicts\.jsonl:1: not valid JSON"):
        call("judge", "dataset.n=8")


def test_a_label_outside_the_taxonomy_and_an_empty_file_are_refused(call, tmp_path) -> None:
    call("generate", "dataset.n=8")
    own = tmp_path / "mine.jsonl"
    text = one(tmp_path, "**/trajectories.jsonl").read_text()
    own.write_text(text.replace('"type":"wrong_tool"', '"type":"wrong_tol"'))
    with pytest.raises(ValueError, match=r"mine\.jsonl:\d+: label\.faults\[0\]\.type: unknown .* mean 'wrong_tool'"):
        call("judge", "dataset=jsonl", f"dataset.path={own}", "judge=never")
    own.write_text("")
    with pytest.raises(ValueError, match=r"dataset\.path: expected at least one trajectory"):
        call("judge", "dataset=jsonl", f"dataset.path={own}", "judge=never")


def test_every_report_on_the_embedded_model_says_what_it_is() -> None:
    said = [Verdict("t", "c", name, "s", faulty=True) for name in ("step:SmolLM2-135M-Instruct.Q4_1@aa", "rules")]
    assert [text[:60] for text in warnings(said)] == ["The embedded model has 135 million parameters and judges nea"]
    assert warnings(said[1:]) == []


def test_two_settings_of_one_judge_keep_apart() -> None:
    verdicts = [Verdict("t", "c", "step:m", spec * 8, faulty=False) for spec in ("aa", "bb", "aa")]
    assert [verdict.auditor for verdict in distinct(verdicts)] == ["step:m@aaaaaa", "step:m@bbbbbb"]


def test_a_budget_stops_a_run_cleanly_and_the_same_command_goes_on(call, tmp_path, capsys) -> None:
    with FakeEndpoint() as fake:
        model = ("judge=step", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=8")
        assert call("judge", *model, "budget.tokens=2500", "concurrency=1") == 1
        assert "budget.tokens" in capsys.readouterr().out
        stored = len(final_verdicts(one(tmp_path, "judge/**/verdicts.jsonl")))
        assert 0 < stored < 8
        assert call("judge", *model, "concurrency=1") == 0
        assert fake.total == 8


def test_a_dead_endpoint_is_a_status_on_each_item_and_is_asked_again(call, tmp_path) -> None:
    down = True
    with FakeEndpoint(behave=lambda body, nth: error(503) if down else None) as fake:
        model = ("judge=outcome", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=3")
        assert call("judge", *model, "llm.retries=0") == 1
        path = one(tmp_path, "judge/**/verdicts.jsonl")
        assert {verdict.status for verdict in final_verdicts(path)} == {"api_error"}
        down = False
        assert call("judge", *model, "llm.retries=0") == 0
        assert not {verdict.status for verdict in final_verdicts(path)} & {"api_error", "not_run"}


def test_no_key_of_the_environment_reaches_a_file(call, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-value-123")
    with FakeEndpoint(behave=lambda body, nth: error(401, "bad key sk-very-secret-value-123")) as fake:
        model = ("judge=step", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=2")
        call("judge", *model, "llm.api_key_env=MY_API_KEY")
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert texts
    assert not any("sk-very-secret" in text for text in texts)


def test_a_report_leaves_out_an_optional_part_and_says_so(call, tmp_path, capsys) -> None:
    call("judge", "dataset.n=24")
    call("judge", "dataset.n=24", "judge=never")
    parts = "++report.parts={here:{title:Here},there:{title:There,name:nothing,optional:true}}"
    assert call("report", "dataset.n=24", "stats.resamples=100", parts) == 0
    page = one(tmp_path, "report/**/report.html").read_text()
    assert "Left out: There (no verdicts" in page.replace("&#39;", "'")
    assert str(one(tmp_path, "report/**/report.html")) in capsys.readouterr().out


def test_a_broken_verdict_file_is_an_error_with_its_line(call, tmp_path) -> None:
    call("judge", "dataset.n=8")
    path = one(tmp_path, "judge/**/verdicts.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1][:40] + "\n", *lines[2:]]))
    with pytest.raises(ValueError, match=r"verdicts\.jsonl:2: not valid JSON"):
        call("score", "dataset.n=8")


def test_resamples_too_few_for_an_interval_are_refused(call) -> None:
    with pytest.raises(ValueError, match=r"stats\.resamples: expected at least 100, got 10"):
        call("score", "stats.resamples=10")


def test_an_edited_run_is_judged_again_and_its_old_verdict_passed_over(call, tmp_path, capsys) -> None:
    call("generate", "dataset.n=8")
    own = tmp_path / "mine.jsonl"
    own.write_text(one(tmp_path, "**/trajectories.jsonl").read_text())
    dataset = ("dataset=jsonl", f"dataset.path={own}")
    call("judge", *dataset, "judge=always")
    own.write_text(own.read_text().replace("Refund", "Please refund", 1).replace("refund", "REFUND", 1))
    assert call("judge", *dataset, "judge=always") == 0
    capsys.readouterr()
    assert call("score", *dataset, "stats.resamples=100") == 0
    shown = capsys.readouterr()
    assert "attempted 8, answered 8" in shown.out
    assert "passed over: 1 verdicts" in shown.err


def test_an_edited_procedure_is_another_judge(call, tmp_path, capsys) -> None:
    procedure = tmp_path / "own.yaml"
    procedure.write_text("name: own\nversion: 1\npoints: [Ask first.]\n")
    with FakeEndpoint() as fake:
        model = ("judge=step", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=4")
        told = (*model, "llm.structured=json_schema", f"dataset.procedure={procedure}")
        call("judge", *told)
        procedure.write_text("name: own\nversion: 2\npoints: [Ask first., Then act.]\n")
        call("judge", *told)
        assert fake.total == 8
    capsys.readouterr()
    call("score", "dataset.n=4", f"dataset.procedure={procedure}", "stats.resamples=100")
    shown = capsys.readouterr()
    assert "step:fake@" not in shown.out
    assert "passed over: 4 verdicts" in shown.err


def test_a_larger_limit_and_another_price_ask_nothing_twice(call) -> None:
    with FakeEndpoint() as fake:
        model = ("judge=outcome", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=12")
        call("judge", *model, "limit=5")
        call("judge", *model, "limit=10")
        call("judge", *model, "limit=10", "llm.price={input: 1, output: 1}")
        call("judge", *model, "limit=10", "judge.overflow=refuse")  # another judge that asks the very same
        assert fake.total == 10


def test_a_deleted_verdict_file_is_made_again(call, tmp_path, capsys) -> None:
    call("judge", "dataset.n=8")
    one(tmp_path, "judge/**/verdicts.jsonl").unlink()
    call("judge", "dataset.n=8")
    assert len(final_verdicts(one(tmp_path, "judge/**/verdicts.jsonl"))) == 8


def test_random_is_one_judge_whatever_the_limit(call, capsys) -> None:
    call("judge", "dataset.n=24", "judge=random", "limit=8")
    call("judge", "dataset.n=24", "judge=random")
    call("score", "dataset.n=24", "stats.resamples=100")
    assert "random@" not in capsys.readouterr().out


def test_a_missing_key_stops_the_run_and_is_said(call, monkeypatch, capsys) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    model = ("judge=step", "llm=endpoint", "llm.model=m", "llm.base_url=http://127.0.0.1:9/v1", "dataset.n=3")
    assert call("judge", *model, "llm.api_key_env=MY_KEY") == 1
    assert "the environment variable MY_KEY is not set" in capsys.readouterr().out


def test_why_items_failed_is_said_once(call, capsys) -> None:
    model = ("judge=step", "llm=endpoint", "llm.model=m", "llm.base_url=http://127.0.0.1:9/v1", "dataset.n=3")
    assert call("judge", *model, "llm.retries=0") == 1
    out = capsys.readouterr().out
    assert "3 api_error" in out
    assert out.count("no connection to http://127.0.0.1:9/v1") == 1


def test_a_model_says_how_many_requests_it_takes_at_once(call) -> None:
    with FakeEndpoint(latency_s=0.3) as fake:
        model = ("judge=step", "llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}", "dataset.n=24")
        call("judge", *model, "llm.concurrency=24")
        assert fake.peak > 12
