"""A majority of samples decides; shares of votes are the confidence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml
from scripted_chat import CLEAN, FLAG, PROCEDURE, ScriptedChat, completion, outcome, refund_run

from trajaudit.auditor import spec_hash
from trajaudit.judges.self_consistency import SelfConsistency, majority
from trajaudit.llm.chat import BudgetExceeded
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.verdict import Verdict


def ensemble(chat: ScriptedChat, k: int = 3, view: str = "step", **settings) -> SelfConsistency:
    return SelfConsistency(chat, view=view, k=k, procedure=PROCEDURE, taxonomy=SUPPORT_DESK, **settings)


def vote(script: list[object], k: int = 3) -> Verdict:
    return asyncio.run(ensemble(ScriptedChat(script), k).judge(refund_run()))


def test_two_of_three_flag_with_two_thirds_confidence():
    verdict = vote([FLAG, CLEAN, FLAG])
    assert (verdict.faulty, verdict.step, verdict.types) == (True, 1, ("skipped_precondition",))
    assert verdict.score == verdict.confidence == 2 / 3
    assert verdict.rationale == "2 of 3 valid votes for faulty"
    assert (verdict.usage.calls, verdict.usage.completion_tokens, verdict.latency_s) == (3, 60, 1.5)


def test_one_of_three_is_clean_with_a_third_as_score():
    verdict = vote([CLEAN, FLAG, CLEAN])
    assert (verdict.faulty, verdict.step, verdict.types, verdict.confidence) == (False, None, (), 2 / 3)
    assert verdict.score == 1 / 3


def test_a_tie_is_clean_at_one_half():
    verdict = vote([FLAG, CLEAN], k=2)
    assert (verdict.faulty, verdict.score, verdict.confidence) == (False, 0.5, 0.5)


def test_step_and_type_are_the_most_frequent_among_flagging_votes_that_name_one():
    silent = FLAG | {"step": None, "type": "none"}
    verdict = vote([silent, FLAG | {"step": 0}, FLAG, FLAG | {"type": "wrong_tool"}, silent], k=5)
    assert (verdict.step, verdict.types) == (1, ("skipped_precondition",))


def test_the_earlier_sample_wins_a_tie_of_steps():
    assert vote([FLAG | {"step": 1}, FLAG | {"step": 0}, CLEAN]).step == 1
    assert vote([FLAG | {"step": 0}, FLAG | {"step": 1}, CLEAN]).step == 0


def test_a_failed_sample_does_not_vote_and_is_counted():
    verdict = vote(["sorry", FLAG, FLAG])
    assert (verdict.faulty, verdict.confidence, verdict.usage.calls) == (True, 1.0, 3)
    assert verdict.detail == "2 of 3 samples valid; failed: 1 parse_fail"


def test_without_a_valid_sample_the_most_frequent_failure_is_the_status():
    verdict = vote([completion("", refusal="no"), "sorry", "sorry"])
    assert (verdict.status, verdict.faulty, verdict.score) == ("parse_fail", None, None)
    assert verdict.detail.startswith("0 of 3 samples valid; failed: 1 refused, 2 parse_fail; first: reply")
    assert vote([completion("", refusal="no")]).status == "refused"


def test_samples_are_different_requests():
    chat = ScriptedChat([CLEAN])
    asyncio.run(ensemble(chat).judge(refund_run()))
    assert [(request.seed, request.repeat, request.temperature) for request in chat.requests] == [
        (0, 0, 0.7),
        (1, 1, 0.7),
        (2, 2, 0.7),
    ]
    assert len({request.key({}) for request in chat.requests}) == 3
    assert len({str(request.messages) for request in chat.requests}) == 1


def test_a_spent_budget_stops_in_the_middle_of_a_vote():
    with pytest.raises(BudgetExceeded):
        vote([FLAG, BudgetExceeded("usd")])


def test_both_variants_of_the_paper_are_configurations():
    conf = Path(__file__).parents[2] / "conf" / "judge"
    names = []
    for file in ("self_consistency", "self_consistency_outcome"):
        settings = yaml.safe_load((conf / f"{file}.yaml").read_text())
        settings.pop("_target_")
        reply = CLEAN if settings["view"] == "step" else outcome(CLEAN)
        judge = ensemble(ScriptedChat([reply], name="m"), **settings)
        assert asyncio.run(judge.judge(refund_run())).ok
        names.append((judge.name, settings["temperature"]))
    assert names == [("selfcons3:step:m", 0.7), ("selfcons5:outcome:m", 0.7)]


def test_the_number_of_samples_is_part_of_the_spec():
    specs = [ensemble(ScriptedChat([CLEAN]), k, temperature=t).spec for k, t in ((3, 0.7), (5, 0.7), (3, 0.5))]
    assert len({spec_hash(spec) for spec in specs}) == 3


@pytest.mark.parametrize(("settings", "why"), [({"k": 1}, "at least 2"), ({"temperature": 0}, "copies")])
def test_an_ensemble_of_copies_is_refused(settings, why):
    with pytest.raises(ValueError, match=why):
        ensemble(ScriptedChat([CLEAN]), **settings)


def test_a_sample_that_was_not_answered_is_asked_again_instead_of_outvoted():
    def sample(status="ok", **said):
        return Verdict("t", "c", "step:m", "s", status=status, **said)

    flag = {"faulty": True, "score": 0.9}
    decided = majority([sample(**flag), sample("api_error", detail="503"), sample(**flag)])
    assert (decided.status, decided.faulty, decided.score) == ("api_error", None, None)
    assert decided.detail == "2 of 3 samples valid; failed: 1 api_error; first: 503"
