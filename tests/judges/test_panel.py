"""A panel: the majority decides, who fails is out of the vote and counted, and disagreement is recorded."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from scripted_chat import refund_run

from trajaudit.judges.panel import Panel
from trajaudit.judges.stored import StoredJudge
from trajaudit.judges.trivial import ConstantJudge
from trajaudit.verdict import Usage, Verdict


class Says:
    """A judge that says what it is told."""

    def __init__(self, name: str, status: str = "ok", faulty: bool | None = None, **said) -> None:
        self.name, self.spec = name, {"judge": name, "said": [status, faulty, str(said)]}
        self.status, self.said = status, {"faulty": faulty, **said}

    async def judge(self, run) -> Verdict:
        usage = Usage(1, 10, 0, 5, 0.25)
        return Verdict(run.id, run.content_hash, self.name, "s", self.status, usage=usage, latency_s=1.0, **self.said)


FAULTY = Says("a:m", faulty=True, score=0.9, step=1, types=("factual", "scope"))
LIKEWISE = Says("b:m", faulty=True, score=0.6, step=1, types=("scope",))
CLEAN = Says("c:m", faulty=False, score=0.3)
BROKEN = Says("d:m", "parse_fail", detail="sorry")


def verdict_of(*members: Says, **settings) -> Verdict:
    return asyncio.run(Panel({member.name[:1]: member for member in members}, **settings).judge(refund_run()))


def test_the_majority_decides_and_the_score_is_the_mean() -> None:
    verdict = verdict_of(FAULTY, LIKEWISE, CLEAN)
    assert (verdict.status, verdict.faulty, verdict.step) == ("ok", True, 1)
    assert verdict.types == ("scope",), "named by both flagging members, the other type by half of them"
    assert verdict.score == pytest.approx(0.6)
    assert verdict.confidence == pytest.approx(2 / 3)
    assert (verdict.usage.calls, verdict.usage.usd, verdict.latency_s) == (3, 0.75, 3.0)


def test_disagreement_is_the_share_of_pairs_that_differ() -> None:
    assert verdict_of(FAULTY, LIKEWISE).uncertainty["disagreement"] == 0
    assert verdict_of(FAULTY, CLEAN).uncertainty["disagreement"] == 1
    assert verdict_of(FAULTY, LIKEWISE, CLEAN).uncertainty["disagreement"] == pytest.approx(2 / 3)
    assert verdict_of(FAULTY, LIKEWISE, CLEAN).uncertainty["score_spread"] == pytest.approx(0.2449, abs=1e-4)


def test_a_tie_is_clean() -> None:
    verdict = verdict_of(FAULTY, CLEAN)
    assert (verdict.faulty, verdict.confidence, verdict.step, verdict.types) == (False, 0.5, None, ())


def test_every_vote_is_shown_as_evidence() -> None:
    notes = [item.note for item in verdict_of(FAULTY, CLEAN).evidence]
    assert notes == ["a: faulty (factual, scope), score 0.90", "c: clean, score 0.30"]


def test_a_member_that_fails_is_out_of_the_vote_and_counted() -> None:
    verdict = verdict_of(FAULTY, LIKEWISE, BROKEN)
    assert (verdict.faulty, verdict.confidence, verdict.usage.calls) == (True, 1.0, 3)
    assert verdict.detail == "2 of 3 members voted; failed: d parse_fail"


def test_without_a_quorum_the_panel_abstains() -> None:
    verdict = verdict_of(FAULTY, BROKEN, Says("e:m", "overflow"))
    assert (verdict.status, verdict.faulty, verdict.score) == ("abstain", None, None)
    assert verdict.detail == "1 of 3 members voted, 2 are needed; failed: d parse_fail, e overflow"
    assert verdict_of(FAULTY, BROKEN, quorum=1).ok


def test_a_member_that_was_not_answered_is_asked_again_instead_of_outvoted() -> None:
    verdict = verdict_of(FAULTY, LIKEWISE, Says("e:m", "api_error", detail="503"))
    assert (verdict.status, verdict.detail) == ("api_error", "e was not answered: 503")


def test_members_and_quorum_are_part_of_the_spec() -> None:
    members = {"a": FAULTY, "b": LIKEWISE, "c": CLEAN}
    specs = [Panel(members).spec, Panel(members, quorum=3).spec, Panel({"a": FAULTY, "b": LIKEWISE}).spec]
    assert len({json.dumps(spec) for spec in specs}) == 3


@pytest.mark.parametrize(("settings", "why"), [({"quorum": 0}, "quorum: expected 1 to 2"), ({"quorum": 3}, "quorum")])
def test_a_quorum_that_cannot_be_met_is_refused(settings: dict, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        verdict_of(FAULTY, CLEAN, **settings)
    with pytest.raises(ValueError, match="members: expected at least two judges"):
        Panel({"a": FAULTY})


def test_a_judge_of_another_model_sits_in_a_panel_by_its_stored_verdicts(tmp_path: Path) -> None:
    run, path = refund_run(), tmp_path / "verdicts.jsonl"
    lost = Verdict(run.id, run.content_hash, "step:big", "s", "api_error")
    found = Verdict(run.id, run.content_hash, "step:big", "s", faulty=True, score=0.7, usage=Usage(1, 9, 0, 9, 2.0))
    path.write_text("".join(json.dumps(verdict.to_json()) + "\n" for verdict in (lost, found)))
    stored = StoredJudge(path=str(path))
    verdict = asyncio.run(Panel({"big": stored, "always": ConstantJudge(faulty=True)}).judge(run))
    assert (verdict.faulty, verdict.score, verdict.usage.usd) == (True, 0.85, 0.0)
    other = refund_run(answer="Another answer.")
    assert asyncio.run(stored.judge(other)).status == "not_run", "it was given on other content"
    with pytest.raises(ValueError, match="auditor: no verdicts of 'step:bog' .*did you mean 'step:big'"):
        StoredJudge(path=str(path), auditor="step:bog")
