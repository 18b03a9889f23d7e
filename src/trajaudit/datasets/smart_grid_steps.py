"""Two shapes of smart grid record as steps: agents that execute a plan, and one agent that calls tools as it goes.

*Plan-execute*: the plan is a step of its own (agent ``planner``), since order and coverage can only be judged against
it; each executed step is the agent whose server ran the tool, with the planned task as its thought; a verifier's remark
on a step is a step of the agent ``verifier``. A step that called no tool holds text that the model wrote itself, so
that text is its action and not an observation. *Agent-as-tool*: each call of a turn is a step; the last turn is the
final answer, and a step only where it is all there is. A run that broke off before its first turn has one step, whose
observation is the error.

What the harness concluded about a run (success, failed steps, guards, repairs) is not fed to anyone: it is not what
the agents did, and an auditor that reads it repeats another auditor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from trajaudit._fields import Fields, Json, fail, typed
from trajaudit.trajectory import Action, Step

AGENT_AS_TOOL = "agent_as_tool"
PLAN_EXECUTE = "plan_execute"
NO_TOOL = ("", "none")

_SHARED = ("question", "answer", "success", "history", "scenario", "error")
_KEYS = {
    AGENT_AS_TOOL: (*_SHARED, "failed_tools", "max_turns_exhausted", "turn_count", "tool_call_count"),
    PLAN_EXECUTE: (
        *(*_SHARED, "plan", "trajectory", "failed_steps", "plan_normalization_warnings", "verification"),
        *("fault_risk_adjudication", "mitigation_guard", "mitigation_repair", "raw_stdout_excerpt"),
    ),
}
RECORD_KEYS = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))
_PLAN_KEYS = ("step", "task", "server", "tool", "tool_args", "dependencies", "expected_output")
_EXECUTED_KEYS = (
    *("step", "task", "server", "tool", "tool_args", "response", "error", "success", "executor_success"),
    *("retries_used", "verifier_decision", "verifier_reason", "verifier_updated_focus", "verifier_replan_raw_plan"),
    *("verifier_replan_normalization_warnings", "verifier_replan_error"),
)
_CALL_KEYS = ("name", "arguments", "call_id", "output")


def record_of(obj: Json, where: str) -> tuple[str, Fields]:
    """Return the shape of a record and the record, unknown keys refused."""
    shape = AGENT_AS_TOOL if "turn_count" in typed(obj, dict, where.rstrip(":")) else PLAN_EXECUTE
    return shape, Fields(obj, where, _KEYS[shape])


def steps_of(shape: str, record: Fields) -> tuple[Step, ...]:
    """Return a record's steps, numbered from 0; at least one.

    Raises:
        RecordError: naming file, line and key.
    """
    found = list(_called(record) if shape == AGENT_AS_TOOL else _executed(record))
    if not found:
        found = [Step(0, observation={"error": record.need("error", str)})]
    return tuple(replace(step, index=index) for index, step in enumerate(found))


def shown_length(record: Fields) -> int:
    """Return how long the record's own steps are in the form in which the harness showed them to its judge."""
    return len(json.dumps(record.obj.get("history", record.obj.get("trajectory")), indent=2))


def broke_off(record: Fields) -> bool:
    """Whether the run ended in an error before anything was recorded."""
    return not (record.obj.get("history") or record.obj.get("trajectory"))


def _executed(record: Fields) -> Iterator[Step]:
    plan = record.each("plan", _planned)
    if plan:
        yield Step(0, agent="planner", action=Action(text="\n".join(plan)))
    key = "trajectory" if "trajectory" in record.obj else "history"
    for steps in record.each(key, _executed_step):
        yield from steps


def _planned(obj: Json, where: str) -> str:
    """Return one line of the plan."""
    step = Fields(obj, where, _PLAN_KEYS)
    after = step.each("dependencies", lambda item, at: typed(item, int, at))
    suffix = f" (after {', '.join(map(str, after))})" if after else ""
    number, server, tool = step.need("step", int), step.need("server", str), step.need("tool", str)
    return f"{number}. [{server}] {tool}: {step.need('task', str)}{suffix}"


def _executed_step(obj: Json, where: str) -> list[Step]:
    step = Fields(obj, where, _EXECUTED_KEYS)
    tool, response, error = step.need("tool", str), step.need("response", str), step.maybe("error", str)
    agent, thought = step.need("server", str), step.need("task", str)
    if tool in NO_TOOL:
        said = Step(0, thought, Action(text=response), None, agent)
    else:
        observation: Json = response or (None if error is None else {"error": error})
        said = Step(0, thought, Action(tool, step.need("tool_args", dict)), observation, agent)
    decision = step.maybe("verifier_decision", str)
    if decision is None:
        return [said]
    focus = step.maybe("verifier_updated_focus", str)
    action = Action(text=f"{decision}; focus: {focus}" if focus else decision)
    return [said, Step(0, step.maybe("verifier_reason", str), action, None, "verifier")]


def _called(record: Fields) -> Iterator[Step]:
    turns = record.each("history", _turn)
    answer = record.need("answer", str)
    for calls, content in turns:
        yield from calls
        if not calls and (content != answer or len(turns) == 1):
            yield Step(0, action=Action(text=content))


def _turn(obj: Json, where: str) -> tuple[list[Step], str]:
    turn = Fields(obj, where, ("turn", "role", "content", "tool_calls"))
    if turn.need("role", str) != "assistant":
        fail(turn.at("role"), "assistant", turn.obj["role"])
    content = turn.need("content", str)
    calls = turn.each("tool_calls", lambda call, at: Fields(call, at, _CALL_KEYS))
    steps = [
        Step(0, None, Action(call.need("name", str), call.need("arguments", dict)), _output(call)) for call in calls
    ]
    if steps and content:
        steps[0] = replace(steps[0], thought=content)
    return steps, content


def _output(call: Fields) -> Json:
    """Return what a tool answered; text that is wrapped as a content block is unwrapped."""
    output = call.obj.get("output")
    if isinstance(output, dict) and set(output) == {"type", "text"} and output["type"] == "text":
        return output["text"]
    return output
