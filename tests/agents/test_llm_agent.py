"""An agent's episode from its first call to its end, however it ends."""

from __future__ import annotations

import asyncio
import json

import pytest
from scripted_chat import ScriptedChat, completion

from trajaudit._fields import dumps
from trajaudit.agents.llm_agent import LLMAgent
from trajaudit.episode import Ending, Rollout, labelled
from trajaudit.llm.chat import ApiError, BudgetExceeded, Completion, ContextOverflow
from trajaudit.testbeds.support_desk.episodes import DeskEpisode, support_desk
from trajaudit.testbeds.support_desk.generator import PRESETS
from trajaudit.testbeds.support_desk.instances import Instance
from trajaudit.testbeds.support_desk.rules import check as rules
from trajaudit.trajectory import Source
from trajaudit.verdict import Usage

BED = support_desk(preset="paper", n=6)
PROCEDURE = BED.procedure.text


def episode() -> DeskEpisode:
    return next(BED.episodes())  # type: ignore[return-value]


def oracle(instance: Instance) -> list[dict]:
    """The scripted oracle's calls, as a model would write them."""
    calls = PRESETS["paper"].script(instance)
    return [{"thought": call.thought, "tool": call.tool, "args": call.args} for call in calls]


def play(script: list, window: int | None = None, **more: object) -> tuple[Rollout, Ending, ScriptedChat]:
    chat = ScriptedChat(script, window)
    agent = LLMAgent(chat, procedure=PROCEDURE, **more)  # type: ignore[arg-type]
    done, ending = asyncio.run(agent.run(episode(), Source("support_desk")))
    return done, ending, chat


def test_the_oracles_calls_through_a_model_are_a_clean_run_with_the_right_outcome() -> None:
    script = oracle(episode().instance)
    done, ending, chat = play(script)
    run = done.trajectory
    assert (done.status, done.failed_parses, len(chat.requests)) == ("finished", 0, len(script))
    assert run is not None
    assert [step.action.tool for step in run.steps if step.action] == [call["tool"] for call in script]
    assert run.final_answer == script[-1]["args"]["text"]
    assert ending.outcome_correct is True
    label = labelled(rules, run, ending.outcome_correct).label
    assert label is not None
    assert (label.faulty, label.origin, label.stratum) == (False, "rule", "clean")
    assert done.usage == Usage(6, 6000, 0, 120, pytest.approx(0.006))
    assert done.latency_s == pytest.approx(3.0)


def test_each_observation_is_shown_to_the_model_before_its_next_call() -> None:
    _, _, chat = play(oracle(episode().instance))
    assert "Task: " in chat.requests[0].messages[1]["content"]
    assert "issue_refund" in chat.requests[0].messages[1]["content"]
    last = chat.requests[2].messages[-1]
    assert last["role"] == "user"
    assert json.loads(last["content"].removeprefix("Observation: "))["ok"] is True


def test_paying_before_checking_is_a_fault_that_the_rules_see_at_its_step() -> None:
    verify, lookup, _, check, refund, reply = oracle(episode().instance)
    done, ending, _ = play([verify, lookup, refund, check, reply])
    assert done.trajectory is not None
    label = labelled(rules, done.trajectory, ending.outcome_correct).label
    assert label is not None
    assert ("skipped_precondition", 2) in {(fault.type, fault.step) for fault in label.faults}
    assert label.stratum == "silent"


def test_a_reply_that_is_no_call_is_fed_back_and_counted_and_is_no_step() -> None:
    script = oracle(episode().instance)
    done, _, chat = play([script[0], "I shall look.", completion("{", finish="length"), *script[1:]])
    assert (done.status, done.failed_parses) == ("finished", 2)
    assert done.trajectory is not None
    assert len(done.trajectory.steps) == 6
    assert done.trajectory.source.meta["failed_parses"] == 2
    assert chat.requests[2].messages[-1]["content"].startswith("Nothing was called. reply: not valid JSON")
    assert "it was cut at 1024 tokens" in chat.requests[3].messages[-1]["content"]


@pytest.mark.parametrize(
    ("script", "more", "status", "steps"),
    [
        (["no"], {}, "parse_fail", 0),
        ([{"tool": "lookup_order", "args": {"order_id": "x"}}], {"max_steps": 4}, "max_steps", 4),
        ([{"tool": "lookup_order", "args": {"order_id": "x" * 400}}], {"window": 2100}, "overflow", None),
        ([{"tool": "fly", "args": {}}, ContextOverflow("too long")], {}, "overflow", 1),
        ([{"tool": "fly", "args": {}}, completion("", refusal="I will not.")], {}, "refused", 1),
        ([{"tool": "fly", "args": {}}, ApiError("down", 3)], {}, "api_error", 0),
    ],
)
def test_an_episode_ends_with_a_status_and_what_was_called_until_then(
    script: list, more: dict, status: str, steps: int | None
) -> None:
    done, ending, _ = play(script, **more)
    assert done.status == status
    assert ending.outcome_correct is False
    assert (done.trajectory is None) == (steps == 0)
    if done.trajectory is not None:
        assert steps is None or len(done.trajectory.steps) == steps
        assert done.trajectory.final_answer is None


def test_three_failures_in_a_row_end_an_episode_and_a_call_between_starts_the_count_anew() -> None:
    look = {"tool": "lookup_order", "args": {"order_id": "x"}}
    done, _, chat = play(["a", "b", look, "c", "d", "e"])
    assert (done.status, done.failed_parses, len(chat.requests)) == ("parse_fail", 5, 6)
    assert done.detail is not None
    assert done.detail.endswith("reply: e")


def test_a_spent_budget_stops_the_run_and_not_the_episode() -> None:
    with pytest.raises(BudgetExceeded):
        play([BudgetExceeded("budget.usd: 1 of 1 US dollars spent")])


def test_native_calls_run_in_order_and_words_alone_end_the_episode() -> None:
    def native(text: str, *calls: dict) -> Completion:
        listed = [
            {"id": f"c{i}", "type": "function", "function": {"name": c["tool"], "arguments": json.dumps(c["args"])}}
            for i, c in enumerate(calls)
        ]
        raw = {"choices": [{"message": {"tool_calls": listed}}]}
        return Completion(text, "tool_calls", Usage(1, 1, 0, 1, 0.0), 0.5, raw)

    script = oracle(episode().instance)
    done, ending, chat = play([native("Both at once.", *script[:2]), native("I am done.")], protocol="native")
    assert (done.status, len(chat.requests)) == ("stopped", 2)
    assert done.trajectory is not None
    assert [step.thought for step in done.trajectory.steps] == ["Both at once.", None]
    assert (ending.final_answer, ending.outcome_correct) == ("I am done.", False)
    assert [tool["function"]["name"] for tool in chat.requests[0].tools][:1] == ["get_customer"]
    roles = [message["role"] for message in chat.requests[1].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    label = labelled(rules, done.trajectory, ending.outcome_correct).label
    assert label is not None
    assert {fault.type for fault in label.faults} == {"premature_stop"}


def test_the_run_is_named_after_episode_and_agent_and_not_after_how_it_went() -> None:
    one, _, _ = play(oracle(episode().instance))
    other, _, _ = play([{"tool": "fly", "args": {}}, "no", "no", "no"])
    third, _, _ = play([{"tool": "fly", "args": {}}, "no"], max_steps=3)
    assert one.trajectory is not None
    assert other.trajectory is not None
    assert third.trajectory is not None
    assert one.trajectory.id == other.trajectory.id != third.trajectory.id
    assert one.trajectory.group == third.trajectory.group == episode().group


def test_offered_tools_take_room_in_the_window() -> None:
    """The words are of some 340 tokens with the reply; the seven tools that go with them are of more than 400."""
    told = {"protocol": "native", "max_tokens": 10}
    assert len(dumps([tool.to_json() for tool in episode().tools])) // 4 > 400
    done, _, chat = play(["I am done."], window=500, **told)
    assert (done.status, chat.requests) == ("overflow", [])
    assert play(["I am done."], window=1000, **told)[0].status == "stopped"


@pytest.mark.parametrize("more", [{"temperature": 5.0}, {"top_p": 0.0}, {"max_tokens": 0}, {"max_steps": 0}])
def test_settings_that_no_endpoint_takes_are_refused_before_it_is_asked(more: dict) -> None:
    (key,) = more
    with pytest.raises(ValueError, match=f"{key}: expected"):
        play([], **more)
