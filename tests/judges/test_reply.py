"""A reply is an opinion or a parse failure; nothing is coerced, defaulted or clamped."""

from __future__ import annotations

import json

import pytest
from scripted_chat import CLEAN, FLAG, outcome

from trajaudit._fields import RecordError
from trajaudit.judges.reply import Reply, last_object, parse_reply, reply_schema
from trajaudit.taxonomy import SUPPORT_DESK, TRAJEL

FORM = reply_schema(SUPPORT_DESK, "step")
OUTCOME_FORM = reply_schema(SUPPORT_DESK, "outcome")


def refused(reply: object, match: str, form: dict = FORM, n_steps: int = 5) -> None:
    with pytest.raises(RecordError, match=match):
        parse_reply(reply if isinstance(reply, str) else json.dumps(reply), form, n_steps)


def test_a_whole_reply_is_read_as_it_stands():
    assert parse_reply(json.dumps(FLAG), FORM, 5) == Reply("no check", True, 0.8, 1, "skipped_precondition")
    assert parse_reply(json.dumps(CLEAN), FORM, 5) == Reply("all in order", False, 0.9, None, None)


def test_the_schema_puts_reasoning_first_and_leaves_nothing_optional():
    assert list(FORM["properties"]) == ["reasoning", "faulty", "step", "type", "confidence"] == FORM["required"]
    assert FORM["additionalProperties"] is False
    assert FORM["properties"]["type"]["enum"] == [*SUPPORT_DESK.types, "none"]
    assert reply_schema(TRAJEL, "step")["properties"]["type"]["enum"] == [*TRAJEL.types, "none"]


def test_a_limit_of_the_reasoning_is_for_the_grammar_alone():
    limited = reply_schema(SUPPORT_DESK, "step", reasoning_limit=5)
    assert limited["properties"]["reasoning"] == {"type": "string", "maxLength": 5}
    assert FORM["properties"]["reasoning"] == {"type": "string"}
    assert parse_reply(json.dumps(FLAG), limited, 5).reasoning == "no check"


def test_the_forms_of_the_two_views_differ_in_the_step_alone():
    without_step = {key: value for key, value in FORM["properties"].items() if key != "step"}
    assert without_step == OUTCOME_FORM["properties"]
    assert parse_reply(json.dumps(outcome(FLAG)), OUTCOME_FORM, 5).step is None
    refused(FLAG, "unknown key 'step'", OUTCOME_FORM)


def test_the_string_false_is_not_false():
    refused(FLAG | {"faulty": "false"}, "faulty: expected true or false, got 'false'")
    refused(FLAG | {"faulty": 0}, "faulty: expected true or false, got 0")


@pytest.mark.parametrize("confidence", [0.2, 0.4999, 1.1, -1, 50])
def test_a_confidence_out_of_range_is_not_clamped(confidence):
    refused(FLAG | {"confidence": confidence}, r"confidence: expected a number in \[0.5, 1\]")


@pytest.mark.parametrize("confidence", ["0.9", True, None, [0.9]])
def test_a_confidence_is_a_number(confidence):
    refused(FLAG | {"confidence": confidence}, "confidence")


def test_nan_and_infinity_are_not_numbers():
    refused(json.dumps(FLAG).replace("0.8", "NaN"), "NaN is not JSON")
    refused(json.dumps(FLAG).replace("0.8", "1e999"), "confidence: expected a number in")


@pytest.mark.parametrize("key", ["reasoning", "faulty", "step", "type", "confidence"])
def test_a_missing_field_has_no_default(key):
    refused({k: v for k, v in FLAG.items() if k != key}, f"{key}: missing")


def test_an_unknown_field_is_refused():
    refused(FLAG | {"verdict": "clean"}, "unknown key 'verdict'")


def test_a_type_off_the_menu_is_refused_with_the_nearest_one():
    refused(FLAG | {"type": "skipped_preconditions"}, "did you mean 'skipped_precondition'")
    refused(FLAG | {"type": None}, "type: expected a string")


@pytest.mark.parametrize("step", [-1, 5, 9])
def test_a_step_that_the_trajectory_does_not_have_is_unsupported_evidence(step):
    refused(FLAG | {"step": step}, rf"^unsupported_evidence: .*expected 0 to 4 \(the last step\), got {step}")


@pytest.mark.parametrize("step", ["1", 1.0, True, [1]])
def test_a_step_is_an_integer(step):
    refused(FLAG | {"step": step}, "step: expected an integer")


def test_step_ten_is_not_step_one():
    assert parse_reply(json.dumps(FLAG | {"step": 10}), FORM, 11).step == 10


def test_a_flag_without_type_or_step_is_an_opinion():
    said = parse_reply(json.dumps(FLAG | {"type": "none", "step": None}), FORM, 5)
    assert (said.faulty, said.type, said.step) == (True, None, None)


@pytest.mark.parametrize("half", [{"type": "wrong_tool"}, {"step": 0}])
def test_clean_with_a_type_or_a_step_contradicts_itself(half):
    refused(CLEAN | half, "^contradiction")


def test_the_last_object_counts_and_an_earlier_one_is_never_a_fallback():
    earlier, last = json.dumps(FLAG), json.dumps(CLEAN)
    assert parse_reply(f"First I thought {earlier}, but: {last}", FORM, 5).faulty is False
    refused(f"Would be {earlier} but {json.dumps(CLEAN | {'type': 'z'})}", "unknown type 'z'")
    refused(f"Would be {earlier} but {last[:-20]}", "the last JSON object is broken")


def test_a_verdict_quoted_inside_broken_reasoning_is_not_taken():
    planted = json.dumps(CLEAN)
    refused('{"reasoning": "the tool said ' + planted + ' which is wrong", "faulty": true}', "broken")


def test_a_verdict_inside_a_string_or_another_object_is_not_the_reply():
    inside = FLAG | {"reasoning": f"the trace says {json.dumps(CLEAN)}"}
    assert parse_reply(json.dumps(inside), FORM, 5).faulty is True
    refused({"verdict": CLEAN}, "unknown key 'verdict'")


@pytest.mark.parametrize("text", ["sorry", "", "Answer: C", "[true]", "null", "{faulty: true}"])
def test_a_reply_without_an_object_is_refused(text):
    refused(text, "expected a JSON object")


@pytest.mark.parametrize("text", ['{"faulty": tr', '{"faulty": true', '{"a": 1, "a": 2}', '{"a": ' + "[" * 100_000])
def test_a_broken_object_is_refused(text):
    refused(text, "broken")


def test_prose_and_code_fences_around_the_object_do_no_harm():
    assert parse_reply(f"The set {{a, b}} is fine.\n```json\n{json.dumps(CLEAN)}\n```\nDone.", FORM, 5).faulty is False


def test_every_cut_of_a_reply_is_refused():
    text = json.dumps(FLAG)
    for end in range(len(text)):
        with pytest.raises(RecordError):
            last_object(text[:end])
