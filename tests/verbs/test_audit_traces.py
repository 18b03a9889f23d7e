"""One's own traces, without labels or a key: what reads them, what is found, what is said of what cannot be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sample_runs import make_run

from trajaudit.cli import run
from trajaudit.config import ConfigError
from trajaudit.runs import final_verdicts
from trajaudit.testbeds.asset_ops.generator import generate as plant
from trajaudit.testbeds.support_desk.generator import generate as desk
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verdict import Verdict

FREE = "auditors=[rules,conformance,claims,hybrid]"


def told(tmp_path: Path, runs: list[Trajectory], *overrides: str) -> tuple[str, ...]:
    write_jsonl(tmp_path / "mine.jsonl", (replace(one, label=None) for one in runs))
    return (f"traces={tmp_path / 'mine.jsonl'}", f"paths.output_dir={tmp_path}", *overrides)


def verdicts_of(tmp_path: Path) -> dict[tuple[str, str], Verdict]:
    (path,) = tmp_path.glob("audit/*/*/verdicts.jsonl")
    return {(verdict.auditor, verdict.trajectory_id): verdict for verdict in final_verdicts(path)}


def test_unlabelled_runs_of_the_desk_are_read_by_all_that_know_it_and_the_worst_come_first(tmp_path, capsys) -> None:
    runs = list(desk("varied", 24, 5, "b"))
    assert run("audit", *told(tmp_path, runs, FREE, "show=30")) == 0
    found = verdicts_of(tmp_path)
    assert {auditor for auditor, _ in found} == {"rules", "conformance", "claims", "hybrid"}
    assert len(found) == 4 * 24
    faulty = {one.id for one in runs if one.label.faulty}
    assert {name for auditor, name in found if auditor == "hybrid" and found[auditor, name].faulty} == faulty
    said = capsys.readouterr().out
    rows = [line.split()[0] for line in said.partition("evidence")[2].splitlines() if line.startswith("sd-")]
    assert set(rows) == faulty
    assert "Which runs to read first" in next(tmp_path.glob("audit/*/*/report.html")).read_text()


def test_a_torn_line_is_said_and_the_rest_is_audited(tmp_path: Path, capsys) -> None:
    given = told(tmp_path, list(desk("varied", 8, 5, "b")), "auditors=[rules]")
    with open(tmp_path / "mine.jsonl", "a") as file:
        file.write('{"id": "torn", "gro')
    assert run("audit", *given) == 0
    assert f"left out: {tmp_path / 'mine.jsonl'}:9: not valid JSON" in capsys.readouterr().err
    assert len(verdicts_of(tmp_path)) == 8
    page = next(tmp_path.glob("audit/*/*/report.html")).read_text()
    assert "Left out: 1 of 9 lines." in page


def test_runs_of_several_domains_in_one_file_are_each_read_by_their_own(tmp_path: Path) -> None:
    stranger = make_run("stranger")
    runs = [*desk("varied", 4, 5, "b"), *plant("varied", 4, 5, "b"), stranger]
    run("audit", *told(tmp_path, runs, FREE))
    asked: dict[str, set[str]] = {}
    for auditor, name in verdicts_of(tmp_path):
        asked.setdefault(auditor, set()).add(name)
    assert asked["claims"] == {one.id for one in runs}
    assert asked["rules"] == {one.id for one in runs} - {"stranger"}
    assert asked["hybrid"] >= {one.id for one in runs[:4]}


def test_an_audit_that_broke_off_asks_only_what_is_missing_and_a_finished_one_nothing(tmp_path, monkeypatch) -> None:
    from trajaudit.judges.rules import RulesJudge

    plain, asked = RulesJudge.judge, []

    async def counted(self, trajectory: Trajectory) -> Verdict:
        asked.append(trajectory.id)
        if len(asked) == 5:
            raise OSError("killed")
        return await plain(self, trajectory)

    monkeypatch.setattr(RulesJudge, "judge", counted)
    given = told(tmp_path, list(desk("varied", 8, 5, "b")), "auditors=[rules]")
    assert run("audit", *given) == 1  # one run has no answer yet
    assert run("audit", *given) == 0
    assert len(asked) == 9
    assert run("audit", *given) == 0
    assert len(asked) == 9


def test_a_run_that_a_rule_engine_cannot_read_is_abstained_from(tmp_path: Path) -> None:
    odd = next(iter(desk("varied", 4, 5, "b")))
    odd = replace(odd, id="odd", steps=(replace(odd.steps[0], observation="plain text"), *odd.steps[1:]))
    assert run("audit", *told(tmp_path, [odd], "auditors=[rules,claims]")) == 0
    verdict = verdicts_of(tmp_path)["rules", "odd"]
    assert (verdict.status, "expected a tool call with an observation" in (verdict.detail or "")) == ("abstain", True)


def test_labels_are_not_looked_at(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "labelled.jsonl", desk("varied", 4, 5, "b"))
    run("audit", f"traces={tmp_path / 'labelled.jsonl'}", f"paths.output_dir={tmp_path}", "auditors=[rules]")
    assert "Nobody has said what is true of these runs" in next(tmp_path.glob("audit/*/*/report.html")).read_text()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("auditors=[rulse]",), "auditors: no such auditor 'rulse' .did you mean 'rules'..; known: rules, conformance"),
        (("domain=other", "auditors=[rules]"), "auditors: rules knows none of these runs .domain: other."),
        (("domain=desk",), "domain: unknown domain 'desk'"),
        (("dataset=support_desk",), "traces: expected a file of traces, or a dataset"),
        (("show=0",), "show: expected at least 1, got 0"),
    ],
)
def test_what_cannot_be_right_is_refused_with_what_is(overrides, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        run("audit", *told(tmp_path, list(desk("varied", 4, 5, "b")), *overrides))


def test_a_dataset_that_a_loader_reads_can_be_audited_too(tmp_path: Path) -> None:
    assert run("audit", "dataset=asset_ops", "dataset.n=4", "auditors=[claims]", f"paths.output_dir={tmp_path}") == 0
    assert len(verdicts_of(tmp_path)) == 4


def test_the_list_of_adapters_has_sizes_and_figures_and_shows_a_card(tmp_path: Path, capsys) -> None:
    assert run("adapters", f"paths.output_dir={tmp_path}") == 0
    said = capsys.readouterr().out
    assert "support_desk " in said
    assert "published 1.000 (400)" in said
    assert run("adapters", "show=support_desk") == 0
    assert "# support_desk" in capsys.readouterr().out
