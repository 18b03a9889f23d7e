"""What a run observed, which values of an answer rest on it, and the words that are left when values are masked."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.detectors.grounding_evidence import MOST, evidence
from trajaudit.detectors.grounding_features import GROUPS, features, matrix
from trajaudit.detectors.grounding_reading import Reading, among, numbers
from trajaudit.detectors.grounding_words import SharedWords, course, masked, spread_of
from trajaudit.trajectory import Action, Source, Step, Trajectory

TASK = "Report the remaining life of T-016 over 180 days."
LIFE = '{"transformer_id": "T-016", "rul_days": 57, "confidence": 0.6081}'


def _run(answer: str | None, *steps: Step) -> Trajectory:
    steps = steps or (Step(0, None, Action("forecast_rul", {"transformer_id": "T-016", "horizon": 180}), LIFE),)
    return Trajectory("t", "g", TASK, steps, answer, Source("test"))


def _reading(answer: str | None, *steps: Step) -> Reading:
    return Reading.of(_run(answer, *steps))


def test_a_number_comes_from_the_task_an_observation_or_nowhere() -> None:
    seen = _reading("")
    assert [seen.origin(n) for n in (180, 57, 0.608, 58)] == ["task", "seen", "seen", "nowhere"]


def test_rounding_to_three_digits_is_the_same_number_and_a_nearby_one_is_not() -> None:
    assert among(0.608, np.array([0.6081]))
    assert not among(0.62, np.array([0.6081]))
    assert numbers("1,250.5 and -3.").tolist() == [1250.5, -3.0]


def test_text_that_the_agent_wrote_supports_nothing() -> None:
    plan = Step(0, agent="planner", action=Action(text="1. look up 99\n2. answer"))
    own = Step(1, agent="wo", action=Action(text="The life is 57 days"))
    remark = Step(2, "looks fine", Action(text="continue; focus: 57"), agent="verifier")
    reading = _reading("57 days", plan, own, remark)
    assert reading.origin(57) == "nowhere"
    assert (len(reading.plan), reading.own, reading.remarks) == (2, (1,), ("continue",))


@pytest.mark.parametrize(
    ("observation", "outcome"),
    [
        (LIFE, "ok"),
        ([], "empty"),
        (None, "empty"),
        ({"error": "no such sensor"}, "error"),
        ("x" * 400 + " error", "ok"),
    ],
)
def test_how_a_call_went(observation: object, outcome: str) -> None:
    (call,) = _reading("", Step(0, None, Action("get", {}), observation)).calls
    assert call.outcome == outcome


def test_made_up_arguments_are_those_in_neither_the_task_nor_an_earlier_observation() -> None:
    first = Step(0, None, Action("forecast_rul", {"transformer_id": "T-016", "horizon": 180, "mode": "fast"}), LIFE)
    second = Step(1, None, Action("open_order", {"days": "57", "hours": 8, "urgent": True}), "done")
    found = features(_reading("done", first, second))
    assert (found["arguments_nowhere"], found["figures_nowhere"]) == (1, 1)  # mode=fast, hours=8
    assert found["arguments_nowhere_share"] == pytest.approx(2 / 5)  # a boolean is not counted


def test_features_tell_a_supported_answer_from_an_invented_one() -> None:
    good, bad = (features(_reading(f"T-016 has {n} days left, confidence {c}.")) for n, c in ((57, 0.608), (91, 0.77)))
    assert (good["numbers_nowhere"], bad["numbers_nowhere"]) == (0, 2)
    assert (good["sentences_nowhere"], bad["sentences_nowhere"]) == (0, 1)


def test_a_failure_is_untold_where_the_answer_admits_none() -> None:
    failed = Step(0, None, Action("get_rul", {}), {"error": "not available"})
    told = features(_reading("The data was not available.", failed))
    untold = features(_reading("All is well.", failed))
    assert (told["errors_untold"], untold["errors_untold"]) == (0, 1)


def test_features_of_any_run_are_finite_and_of_one_length() -> None:
    readings = [
        _reading(None, Step(0)),
        _reading("", Step(0, observation={"error": "died"})),
        _reading("57"),
        _reading("é"),
    ]
    assert np.isfinite(matrix(readings)).all()
    assert sum(len(group(readings[0])) for group in GROUPS.values()) == len(features(readings[0]))


def test_masking_leaves_no_value_in_the_text() -> None:
    text = masked(_reading("On 2024-07-29 T-016 has 57 days, T-999 has 91; see forecast_rul and 180."))
    assert " ".join(text.split()) == (
        "on date_nowhere name_task has number_seen days, name_nowhere has number_nowhere ; "
        "see name_tool and number_task"
    )


def test_the_course_is_one_word_a_call_and_outcome() -> None:
    assert course(_reading("")) == "forecast_rul_ok ok stop"


def test_shared_words_are_those_that_enough_groups_use() -> None:
    texts = ["common topic_a"] * 6 + ["common topic_b"] * 6 + ["common topic_c", "common"] * 3
    groups = ["a"] * 6 + ["b"] * 6 + ["c"] * 6
    words = SharedWords(0.6)
    rows = words.fit(texts, groups)
    assert words.counter.get_feature_names_out().tolist() == ["common"]
    assert rows.shape == (18, 1)
    with pytest.raises(ValueError, match=r"share: no n-gram"):
        SharedWords(1.0).fit(["x_a"] * 5 + ["x_b"] * 5, ["a"] * 5 + ["b"] * 5)


def test_spread_counts_groups_and_not_runs() -> None:
    from scipy.sparse import csr_matrix

    counts = csr_matrix(np.array([[1, 0], [2, 0], [0, 3]]))
    assert spread_of(counts, ["a", "a", "b"]).tolist() == [1, 1]


def test_evidence_quotes_the_sentence_the_argument_and_the_silence() -> None:
    first = Step(0, None, Action("forecast_rul", {"transformer_id": "T-016", "mode": "fast"}), LIFE)
    failed = Step(1, None, Action("open_order", {}), {"error": "no such order"})
    said = evidence(_reading("The life is 57 days. It costs 912.50 dollars.", first, failed))
    assert [(item.step, item.quote) for item in said] == [
        (None, "It costs 912.50 dollars."),
        (0, "mode=fast"),
        (1, '{"error": "no such order"}'),
    ]
    assert "912.5" in (said[0].note or "")
    assert (
        evidence(_reading("It came from forecast_rul.", first))[0].step == 0
    )  # a tool that was called is no made-up name
    many = "\n".join(f"It is {n}.5 days." for n in range(200, 240))
    assert len(evidence(_reading(many, first))) == MOST
