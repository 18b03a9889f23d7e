"""Who is counted, and how, before anything is measured."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.analysis import Denominator, tabulate
from trajaudit.analysis.table import under
from trajaudit.verdict import Unseen, Usage, Verdict


def said(name, faulty=None, status="ok", **more) -> Verdict:
    return Verdict(name, "hash", "judge", "spec", status=status, faulty=faulty, **more)


def test_a_verdict_that_was_never_given_counts_as_not_run(run):
    runs = [run(f"t{i}", ("wrong_tool", 1)) for i in range(5)]
    _, answers = tabulate(runs, [said("t2", True)])
    assert answers["judge"].denominator == Denominator(5, 1, {"not_run": 4}, 0)


def test_failures_are_counted_by_cause_and_partial_reading_apart(run):
    runs = [run(f"t{i}") for i in range(4)]
    verdicts = [
        said("t0", False, unseen=Unseen(120, (3,))),
        said("t1", status="truncated"),
        said("t2", status="api_error"),
        said("t3", True),
    ]
    denominator = tabulate(runs, verdicts)[1]["judge"].denominator
    assert denominator == Denominator(4, 2, {"api_error": 1, "truncated": 1}, 2)


def test_a_trajectory_without_a_label_is_refused_with_the_count(run):
    with pytest.raises(ValueError, match=r"3 trajectories, each with a label; got 2 without, first 'b'"):
        tabulate([run("a"), run("b", label=False), run("c", label=False)], [])


def test_a_repeated_verdict_does_not_count_twice(run):
    with pytest.raises(ValueError, match="expected one verdict on 'a', got several"):
        tabulate([run("a")], [said("a", True), said("a", True)])


def test_a_verdict_on_another_set_is_refused(run):
    with pytest.raises(ValueError, match="'b', which is not among"):
        tabulate([run("a")], [said("b", True)])


def test_the_earliest_of_several_faults_is_gold_and_the_first_type_listed_is_the_answer(run):
    items, answers = tabulate(
        [run("a", ("premature_stop", 4), ("wrong_tool", 1))],
        [said("a", True, types=("unsupported_claim", "wrong_tool"))],
    )
    assert (items.type[0], items.step[0], items.fault_steps[0]) == ("wrong_tool", 1, {1, 4})
    assert answers["judge"].type[0] == "unsupported_claim"


def test_a_fault_whose_outcome_nobody_knows_is_neither_silent_nor_loud(run):
    items, _ = tabulate([run("a", ("factual", 1), outcome=None)], [])
    assert items.stratum[0] == "unknown"


def test_score_and_confidence_stand_in_for_each_other_by_their_meaning(run):
    runs = [run(name) for name in "abcd"]
    verdicts = [
        said("a", True, confidence=0.9),
        said("b", False, confidence=0.9),
        said("c", True, score=0.7),
        said("d", False, score=0.3),
    ]
    answers = tabulate(runs, verdicts)[1]["judge"]
    assert answers.score.tolist() == pytest.approx([0.9, 0.1, 0.7, 0.3])
    assert answers.confidence.tolist() == pytest.approx([0.9, 0.9, 0.7, 0.7])


def test_an_unknown_cost_stays_unknown(run):
    answers = tabulate([run("a")], [said("a", True, usage=Usage(1, 10, 0, 5, None))])[1]["judge"]
    assert answers.cost["prompt_tokens"][0] == 10
    assert np.isnan(answers.cost["usd"][0])
    assert np.isnan(answers.cost["seconds"][0])


def test_the_published_convention_votes_clean_at_one_half_and_the_answered_one_leaves_out(answered):
    raw = answered([True, True], score=[0.9, 0.9], confidence=[0.3, 0.9], ok=[True, False])
    published, honest = under(raw, "published"), under(raw, "answered")
    assert published.counted.tolist() == [True, True]
    assert published.flagged.tolist() == [True, False]
    assert published.score.tolist() == [0.9, 0.5]
    assert published.confidence.tolist() == [0.5, 0.5]
    assert honest.counted.tolist() == [True, False]
    assert honest.confidence[0] == 0.3


def test_an_unknown_convention_is_refused(answered):
    with pytest.raises(ValueError, match="expected one of published, answered, got 'strict'"):
        under(answered([True]), "strict")


def test_a_convention_may_be_applied_to_answers_under_the_other(answered):
    raw = answered([True, True], score=0.9, confidence=0.9, ok=[True, False])
    again = under(under(raw, "answered"), "published")
    assert np.array_equal(again.counted, under(raw, "published").counted)
