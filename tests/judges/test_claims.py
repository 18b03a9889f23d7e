"""The claim checker: what an answer may say, told by what the run has observed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from trajaudit.judges.claim_check import Probabilities
from trajaudit.judges.claim_sentences import allowed, sentences
from trajaudit.judges.claim_sources import learn_sources, read_sources
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.taxonomy import SUPPORT_DESK, TRAJEL, Taxonomy
from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.trajectory import Action, Source, Step, Trajectory
from trajaudit.verdict import Verdict


def site(answer: str, *turns: tuple[str, dict[str, Any], Any], task: str = "How is T-006?") -> Trajectory:
    """A run of (tool, arguments, observation) turns that ends with an answer."""
    steps = tuple(Step(i, None, Action(tool, args), seen) for i, (tool, args, seen) in enumerate(turns))
    return Trajectory("t", "g", task, steps, answer, Source("example"))


RECORDS = (
    ("get_record", {"id": "T-006"}, {"id": "T-006", "fault": "Line Breakage", "downtime_hours": 4, "load_mw": 54.89}),
    ("get_record", {"id": "T-007"}, {"id": "T-007", "fault": "Overheating", "downtime_hours": 9, "load_mw": 12.5}),
)


def judged(answer: str, *turns: Any, taxonomy: Taxonomy = TRAJEL, **more: Any) -> Verdict:
    return asyncio.run(ClaimsJudge(taxonomy, **more).judge(site(answer, *(turns or RECORDS))))


@pytest.mark.parametrize(
    "answer",
    [
        "The load of T-006 is 54.9 MW.",  # rounded
        "T-006 was down for 240 minutes.",  # in another unit
        "Fault of T-007: Overheating.",
        "The fault of T-006 is a line breakage.",
        "T-006 and T-007 were down for 4 and 9 hours.",
        "T-006 was down for 4 hours and T-007 for 9 hours, 125 % longer and 5 hours more.",
    ],
)
def test_what_was_observed_may_be_said_rounded_converted_and_in_other_words(answer: str) -> None:
    assert not judged(answer).faulty


def test_a_value_of_another_object_supports_nothing() -> None:
    verdict = judged("T-006 was down for 9 hours.")
    assert verdict.faulty
    assert verdict.types == ("factual",)
    assert verdict.rationale == "unsupported: '9 hours' stands in no observation"
    assert [(piece.step, piece.quote) for piece in verdict.evidence] == [(None, "T-006 was down for 9 hours.")]


def test_contradicted_and_unsupported_are_told_apart_with_sentence_and_evidence() -> None:
    contradicted = judged("The downtime of T-006 is 7 hours.")
    assert contradicted.rationale is not None
    assert contradicted.rationale.startswith("contradicted")
    assert contradicted.evidence[0].quote == "The downtime of T-006 is 7 hours."
    assert (contradicted.evidence[1].step, contradicted.evidence[1].quote) == (0, '"downtime_hours": 4')
    unsupported = judged("The oil of T-006 is at 71 °C.")
    assert unsupported.rationale == "unsupported: '71 °C' stands in no observation"


def test_what_the_request_says_contradicts_nothing() -> None:
    run = site("The limit of T-006 is 9 hours.", *RECORDS, task="Is T-006 within its limit of 8 hours?")
    (evidence,) = ClaimsJudge(TRAJEL).audit(run).evidence
    assert evidence.note == "unsupported: '9 hours' stands in no observation"


def test_an_identifier_that_appears_nowhere_is_a_referential_fault() -> None:
    assert judged("Work order WO-4411 was opened for T-006.").types == ("referential",)


def test_a_name_with_a_number_is_an_identifier_where_its_kind_is_known() -> None:
    turns = [
        ("mean", {"asset": f"Pump {n}"}, {"asset": f"Pump {n}", "mean": mean}) for n, mean in ((5, 20.5), (14, 61.5))
    ]
    assert not judged("The mean of Pump 14 is 61.5.", *turns).faulty
    assert judged("The mean of Pump 5 is 61.5.", *turns).faulty
    assert judged("The mean of Pump 9 is 61.5.", *turns).types == ("referential",)
    assert not judged("Within 9 days Pump 5 had a mean of 20.5.", *turns, ("wait", {}, {"days_left": 9})).faulty


def test_a_quoted_observation_is_supported_as_it_stands() -> None:
    seen = ("ask", {"id": "T-006"}, {"reason": "bought 81 days ago, the window is 60 days"})
    assert not judged("T-006 was refused: bought 81 days ago, the window is 60 days.", seen).faulty
    assert judged("T-006 was refused: bought 81 days ago, the window is 90 days.", seen).faulty


def test_the_echo_of_the_answer_does_not_support_it() -> None:
    answer = "The load of T-006 is 99 MW."
    assert judged(answer, *RECORDS, ("reply", {"text": answer}, {"sent": answer})).faulty


def test_a_claim_is_located_at_the_step_that_sends_the_answer() -> None:
    answer = "The load of T-006 is 99 MW."
    assert judged(answer, RECORDS[0], ("reply", {"text": answer}, {"sent": True}), RECORDS[1]).step == 1


def test_politeness_questions_and_signatures_claim_nothing() -> None:
    text = "Dear Ada Ito,\nThanks for writing! Shall I go on?\nT-006 is down.\nPlease write again.\nKind regards, Bo"
    assert sentences(text) == ["T-006 is down."]


def test_a_thought_is_held_against_what_was_observed_before_it() -> None:
    steps = (
        Step(0, "The downtime of T-006 is 4 hours.", Action("get_record", {"id": "T-006"}), RECORDS[0][2]),
        Step(1, "The downtime of T-006 is 4 hours.", Action("get_record", {"id": "T-007"}), RECORDS[1][2]),
    )
    run = Trajectory("t", "g", "How is T-006?", steps, "T-006 was down for 4 hours.", Source("example"))
    verdict = ClaimsJudge(TRAJEL).audit(run)
    assert (verdict.faulty, verdict.step, verdict.evidence[0].step) == (True, 0, 0)
    assert not ClaimsJudge(TRAJEL, thoughts=False).audit(run).faulty


def test_the_two_readings_differ_by_the_procedures_standing_claims() -> None:
    answer = "T-006 was down for 4 hours. The money arrives within five working days."
    standing = ("The refund arrives within five working days.",)
    assert judged(answer, standing_claims=standing, reading="strict").faulty
    assert not judged(answer, standing_claims=standing, reading="standing_claims").faulty
    assert judged(answer).faulty  # a procedure that lists none allows none
    with pytest.raises(ValueError, match="reading: expected strict or standing_claims"):
        judged(answer, reading="lenient")


def test_a_standing_claim_lets_no_other_value_pass() -> None:
    standing = ("A specialist of our team will contact the customer.",)
    assert allowed("A specialist will contact you.", standing)
    assert not allowed("A specialist will contact you on Friday.", standing)


class Oracle:
    """A model of entailment that always says the same."""

    name = "oracle"

    def __init__(self, said: Probabilities) -> None:
        self.said, self.asked = said, [""]

    def entails(self, premises: Sequence[str], hypothesis: str) -> Probabilities:
        self.asked.append(hypothesis)
        return self.said


def test_what_matching_cannot_decide_goes_to_a_model_of_entailment_and_nothing_else_does() -> None:
    claim = "The grid operator has already approved everything."
    for said, faulty in ((Probabilities(0.9, 0.1, 0), False), (Probabilities(0.1, 0.2, 0.7), True)):
        oracle = Oracle(said)
        assert judged(f"{claim} T-006 was down for 4 hours.", entailment=oracle).faulty is faulty
        assert oracle.asked[1:] == [claim]


@pytest.mark.parametrize("bank", ["a", "b"])
def test_no_healthy_reply_of_the_support_desk_is_flagged_and_most_false_ones_are(bank: str) -> None:
    runs = list(generate("varied", 240, 5, bank))
    sources = learn_sources(run for run in generate("varied", 320, 6, "a") if run.label and not run.label.faulty)
    for given, least in ((None, 0.85), (sources, 0.95)):
        judge = ClaimsJudge(SUPPORT_DESK, sources=given)
        flagged = {run.id: judge.audit(run).faulty for run in runs}
        clean = [run.id for run in runs if run.label and not run.label.faulty]
        false = [
            run.id for run in runs if run.label and run.label.first and run.label.first.type == "unsupported_claim"
        ]
        assert sum(flagged[name] for name in clean) == 0
        assert sum(flagged[name] for name in false) >= least * len(false)


def test_a_kind_of_value_that_answers_also_take_from_elsewhere_is_left_free() -> None:
    answers = ("The team in Lyon has T-006.", "The team in Basel has T-006.")
    runs = [site(answers[i % 2], ("get_record", {"id": "T-006"}, {"id": "T-006", "team": "Lyon"})) for i in range(40)]
    assert "name" not in learn_sources(runs)
    assert learn_sources(runs[::2] * 2)["name"] == ("get_record:team",)


def test_learnt_sources_are_fields_and_travel_as_json(tmp_path: Any) -> None:
    judge = ClaimsJudge(SUPPORT_DESK)
    judge.fit([run for run in generate("varied", 400, 6, "a") if run.label and not run.label.faulty], tmp_path)
    assert judge.sources is not None
    assert judge.sources["number time 86400"] == ("issue_refund:data.payout_days",)
    assert read_sources(tmp_path / "claim_sources.json") == judge.sources
    assert judge.spec != ClaimsJudge(SUPPORT_DESK).spec
