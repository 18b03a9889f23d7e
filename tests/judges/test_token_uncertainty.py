"""Doubt is read at the tokens that say the verdict, wherever an endpoint's list of tokens begins."""

from __future__ import annotations

import asyncio
import math

import pytest
from scripted_chat import FLAG, PROCEDURE, ScriptedChat, completion, refund_run

from trajaudit.judges.llm_judge import LLMJudge
from trajaudit.judges.token_uncertainty import of_verdict
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.verdict import Verdict

TEXT = '{"reasoning": "\\"faulty\\": true was said", "faulty": false}'


def token(text: str, p: float = 1.0, **others: float) -> dict:
    listed = [{"token": text, "logprob": math.log(p)}]
    listed += [{"token": name.replace("_", " "), "logprob": math.log(q)} for name, q in others.items()]
    return {"token": text, "bytes": list(text.encode()), "logprob": math.log(p), "top_logprobs": listed}


BEFORE = [token('{"reasoning": "\\"faulty\\": '), token("true", 0.5, false=0.5), token(' was said", "faulty":')]
VALUE = token(" false", 0.5, false=0.25, _true=0.25)


def test_entropy_margin_and_surprisal_by_hand() -> None:
    """The two spellings of false weigh 3/4, true 1/4; what was written has 1/2."""
    doubt = of_verdict(TEXT, {"content": [*BEFORE, VALUE, token("}")]})
    assert doubt["token_entropy"] == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert doubt["token_tie"] == pytest.approx(1 - 0.5)
    assert doubt["token_surprisal"] == pytest.approx(math.log(2))


def test_tokens_of_a_code_fence_that_the_text_has_lost_move_nothing() -> None:
    fence = [token("```"), token("json"), token("\n")]
    plain = of_verdict(TEXT, {"content": [*BEFORE, VALUE, token("}")]})
    assert of_verdict(TEXT, {"content": [*fence, *BEFORE, VALUE, token("}"), token("\n```"), token("")]}) == plain


def test_a_verdict_in_several_tokens_is_their_mean_surprisal() -> None:
    parts = [token(" fa", 0.5, _true=0.5), token("lse", 0.125)]
    doubt = of_verdict(TEXT, {"content": [*BEFORE, *parts, token("}")]})
    assert doubt["token_surprisal"] == pytest.approx((math.log(2) + math.log(8)) / 2)
    assert doubt["token_entropy"] == pytest.approx(math.log(2))


def test_a_character_cut_in_two_by_the_tokenizer_is_put_together_from_bytes() -> None:
    text = '{"reasoning": "é", "faulty": true}'
    half = [{"token": "�", "bytes": [0xC3], "logprob": 0.0}, {"token": "�", "bytes": [0xA9], "logprob": 0.0}]
    tokens = [token('{"reasoning": "'), *half, token('", "faulty": '), token("true", 0.5, false=0.5), token("}")]
    assert of_verdict(text, {"content": tokens})["token_entropy"] == pytest.approx(math.log(2))


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}, {"content": [{"token": "x"}]}])
def test_what_cannot_be_read_is_left_out(logprobs: object) -> None:
    assert of_verdict(TEXT, logprobs) == {}


def test_where_only_one_word_is_listed_there_is_no_entropy() -> None:
    doubt = of_verdict(TEXT, {"content": [*BEFORE, token(" false", 0.9, maybe=0.1), token("}")]})
    assert list(doubt) == ["token_surprisal"]


def test_a_judge_records_it_and_asks_for_it_only_on_request() -> None:
    chat = ScriptedChat([completion(FLAG)])
    judge = LLMJudge(chat, view="step", procedure=PROCEDURE, taxonomy=SUPPORT_DESK)
    assert asyncio.run(judge.judge(refund_run())).uncertainty == {}
    asking = LLMJudge(chat, view="step", procedure=PROCEDURE, taxonomy=SUPPORT_DESK, top_logprobs=5)
    asyncio.run(asking.judge(refund_run()))
    assert [request.top_logprobs for request in chat.requests] == [0, 5]
    assert asking.spec != judge.spec


def test_uncertainty_survives_a_round_trip_and_is_not_written_where_there_is_none() -> None:
    bare = Verdict("t", "c", "j", "s", faulty=True)
    assert "uncertainty" not in bare.to_json()
    unsure = Verdict("t", "c", "j", "s", faulty=True, uncertainty={"token_entropy": 0.3})
    assert Verdict.from_json(unsure.to_json()) == unsure
    with pytest.raises(ValueError, match="uncertainty.token_entropy: expected a number of 0 or more, got -1"):
        Verdict("t", "c", "j", "s", faulty=True, uncertainty={"token_entropy": -1})


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"token": "false", "logprob": "nan"}, "no number"),
        ({"token": "false", "logprob": 0.0, "top_logprobs": [{"token": "true", "logprob": 1e5}]}, "too large"),
        ({"token": "false", "logprob": 0.0, "top_logprobs": [{"token": "true", "logprob": float("nan")}]}, "no number"),
        ({"token": "false", "logprob": 0.0, "top_logprobs": ["true"]}, "no object"),
        ("false", "no object"),
    ],
)
def test_what_an_endpoint_garbles_is_no_sign_and_never_a_zero(entry: object, why: str) -> None:
    begun = {"token": '{"faulty": ', "logprob": 0.0}
    assert of_verdict('{"faulty": false}', {"content": [begun, entry, {"token": "}", "logprob": 0.0}]}) == {}, why
