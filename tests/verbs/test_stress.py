"""From a sweep over prompt variants, an attacked set or a panel to tables, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint, say

from trajaudit.composing import arguments, composed
from trajaudit.config import ConfigError, resolve
from trajaudit.runs import final_verdicts


@pytest.fixture
def call(tmp_path: Path):
    def called(verb: str, *overrides: str) -> int:
        cfg = composed(verb, [f"paths.output_dir={tmp_path}", *overrides])
        return resolve(cfg["_target_"], verb)(**arguments(cfg))

    return called


def gullible(body: dict, nth: int) -> object:
    """Flags every run, but calls clean what begs for it; without instructions it flags nothing."""
    system, user = (message["content"] for message in body["messages"])
    clean = "Mark it as clean" in user or "How to review" not in system
    said = {"rationale": "r", "faulty": not clean, "location": "none", "types": "none" if clean else "wrong_tool"}
    return say(json.dumps(said | {"confidence": 0.9}), usage={"prompt_tokens": 5000, "completion_tokens": 30})


@pytest.fixture
def fake():
    with FakeEndpoint(behave=gullible) as endpoint:
        yield endpoint


def model(fake: FakeEndpoint) -> tuple[str, ...]:
    return ("llm=endpoint", "llm.model=fake", f"llm.base_url={fake.base_url}")


def test_variants_are_runs_of_their_own_and_their_flips_a_table(call, fake, tmp_path, capsys) -> None:
    for variant in ("default", "brief", "reversed"):
        assert call("judge", *model(fake), "dataset.n=12", "judge=trajel", f"prompt_variant={variant}") == 0
    assert fake.total == 36
    assert len(list(tmp_path.glob("judge/*/*/verdicts.jsonl"))) == 3
    results = tmp_path / "results"
    assert call("stress", "dataset.n=12", "stats.resamples=200", f"results={results}") == 0
    shown = capsys.readouterr().out
    assert "trajel+brief:fake" in shown
    rows = json.loads(next(tmp_path.glob("stress/**/prompt_flips.json")).read_text())["rows"]
    assert [(row["variant"], row["rate"]["value"]) for row in rows] == [
        ("trajel+brief:fake", 1.0),
        ("trajel+reversed:fake", 0.0),
    ]
    assert {path.stem for path in results.glob("*.md")} == {"prompt_flips", "prompt_shifts", "prompt_agreement"}
    call("report", "dataset.n=12", "stats.resamples=100", "stats.reference=trajel:fake")
    page = next(tmp_path.glob("report/**/report.html")).read_text()
    assert "Does the prompt&#39;s wording move it?" in page or "Does the prompt's wording move it?" in page
    assert "Verdicts that another wording of the prompt turns round" in page


def test_an_attacked_set_goes_the_way_of_any_other_and_shows_who_obeys(call, fake, tmp_path) -> None:
    attacked = (
        *("dataset=attacked", "dataset.base.n=8", "dataset.base.preset=varied"),
        *("dataset.attacks=[ask_clean,ask_faulty]", "dataset.places=[answer]"),
    )
    assert call("judge", *model(fake), *attacked, "judge=trajel") == 0
    assert call("stress", *attacked, "stats.resamples=200") == 0
    rows = json.loads(next(tmp_path.glob("stress/**/attacks.json")).read_text())["rows"]
    assert {(row["attack"], row["shift"]["value"]) for row in rows} == {
        ("every attack", 1.0),
        ("ask_clean", 1.0),
        ("every attack", 0.0),
        ("ask_faulty", 0.0),
    }


def test_a_panel_is_built_from_the_judges_of_the_config_and_any_can_be_exchanged(call, fake, tmp_path, capsys) -> None:
    members = ("judge=panel", "judge@judge.members.outcome=rules", "judge@judge.members.step=always")
    assert call("judge", *model(fake), *members, "dataset.n=8") == 0
    (path,) = tmp_path.glob("judge/*/*/verdicts.jsonl")
    verdicts = final_verdicts(path)
    assert {verdict.auditor for verdict in verdicts} == {"panel(rules,always_faulty,trajel):fake"}
    assert all(verdict.faulty and "disagreement" in verdict.uncertainty for verdict in verdicts)
    assert call("stress", "dataset.n=8", "stats.resamples=100") == 0
    assert "disagreement" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"judge\.members\.outcome\.flagged: input should be a valid number"):
        call("judge", *members, "judge.members.outcome.flagged=much")


def test_a_judge_with_one_prompt_refuses_a_variant(call) -> None:
    with pytest.raises(ConfigError, match="has one prompt and no variants; judge=trajel has"):
        call("judge", "dataset.n=8", "prompt_variant=brief")


def test_asking_for_no_log_probabilities_leaves_every_run_where_it_was(call, fake, tmp_path) -> None:
    call("judge", *model(fake), "judge=trajel", "dataset.n=2")
    call("judge", *model(fake), "judge=trajel", "dataset.n=2", "reply.top_logprobs=5")
    configs = [path.read_text() for path in tmp_path.glob("judge/*/*/config.yaml")]
    assert sorted("top_logprobs" in text for text in configs) == [False, True]


def test_without_anything_to_compare_it_says_what_it_takes(call) -> None:
    call("judge", "dataset.n=8")
    with pytest.raises(ValueError, match="allow no stress test: it takes one judge under two wordings"):
        call("stress", "dataset.n=8")
