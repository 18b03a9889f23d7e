"""The words of a run that a detector is fed, part by part: never its id, group, source, label or reference answer.

Each part begins with the name of its component, so that an encoder can tell a thought from what a tool returned. The
final answer belongs to the last step, whose turn it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajaudit._fields import Json, dumps
from trajaudit.trajectory import Action, Step, Trajectory

VERSION = 1
"""Raised when the wording changes: it is part of every recipe's spec."""


def task_text(run: Trajectory) -> str:
    return f"task: {run.task}"


def answer_text(run: Trajectory) -> str | None:
    """Return the final answer as a part; null where the run gave none."""
    return None if run.final_answer is None else f"final answer: {run.final_answer}"


def claim_text(step: Step) -> str:
    """Return what a step asserts and does, without what came back: its thought and its action."""
    said = [text for label, text in _parts(step) if label in ("thought", "action")]
    return " ".join(said) or "no action"


def step_texts(run: Trajectory, index: int) -> list[str]:
    """Return the parts of a step: agent, thought, action, observation, and after the last step the final answer.

    >>> from trajaudit.trajectory import Source
    >>> step = Step(0, "greet", Action("reply", {"to": "Ann"}), "sent", "Desk")
    >>> step_texts(Trajectory("t", "g", "Say hi.", (step,), "hi", Source("x")), 0)
    ['agent: Desk', 'thought: greet', 'action: reply {"to":"Ann"}', 'observation: sent', 'final answer: hi']
    """
    texts = [text for _, text in _parts(run.steps[index])]
    answer = answer_text(run)
    last = index == len(run.steps) - 1
    return [*texts, answer] if last and answer is not None else texts


def _parts(step: Step) -> Iterator[tuple[str, str]]:
    if step.agent:
        yield "agent", f"agent: {step.agent}"
    if step.thought:
        yield "thought", f"thought: {step.thought}"
    if step.action is not None:
        yield "action", f"action: {_action(step.action)}"
    if step.observation is not None:
        yield "observation", f"observation: {_words(step.observation)}"


def _action(action: Action) -> str:
    return action.text or "" if action.tool is None else f"{action.tool} {_words(action.args)}"


def _words(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)
