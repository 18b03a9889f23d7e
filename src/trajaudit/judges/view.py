"""What a judge is shown: the two views of a trajectory, rendered by one function and fenced as data.

``outcome`` shows the goal and the final answer, ``step`` shows everything in between as well; nothing else differs,
which makes them the controlled pair of the testbed paper (section 4). Neither shows the label, the source or a
reference answer. Steps carry the record's own numbers, so a judge's "step 3" is the record's step 3.

A trace can hold anything, a forged verdict or orders to its reader included. Four things keep it data. Every line break
in it is followed by ``| ``, so no text of a trace can start a line, and a fence or a step can only be written here. The
fence carries a mark that is derived from a hash of the whole content: text inside cannot foresee a hash of itself, and
a mark that does occur is passed over. Notes about what was left out carry the mark too. And the control tokens of
common chat templates are broken up, since several servers would read them as the end of the message.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from trajaudit._fields import Json
from trajaudit.trajectory import Action, Step, Trajectory

VIEWS = ("outcome", "step")
VERSION = 1
"""Raised when rendering changes: it is part of every LLM judge's spec."""

_CONTROL_TOKEN = re.compile(
    r"<(?=[|｜])|<(?=/?(?:s|bos|eos|think|start_of_turn|end_of_turn)>)|<(?=<SYS>>|</SYS>>)|\[(?=/?INST\])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Part:
    """One piece of a record: its label, its text, and the step it belongs to (null for goal and final answer)."""

    label: str
    text: str
    step: int | None = None


def parts_of(trajectory: Trajectory, view: str) -> list[Part]:
    """Return what a view holds, in reading order.

    >>> from trajaudit.trajectory import Source
    >>> step = Step(0, "greet", Action("reply", {"to": "Ann"}), "sent")
    >>> run = Trajectory("t", "g", "Say hi.", (step,), "hi", Source("x"))
    >>> [part.label for part in parts_of(run, "outcome")]
    ['goal', 'final answer']
    >>> [part.text for part in parts_of(run, "step")]
    ['Say hi.', 'greet', 'reply {"to": "Ann"}', 'sent', 'hi']
    """
    if view not in VIEWS:
        raise ValueError(f"view: expected one of {', '.join(VIEWS)}, got {view!r}")
    steps = trajectory.steps if view == "step" else ()
    answer = "(none)" if trajectory.final_answer is None else trajectory.final_answer
    inner = [part for step in steps for part in _step_parts(step)]
    return [Part("goal", trajectory.task), *inner, Part("final answer", answer)]


def mark_of(trajectory: Trajectory) -> str:
    """Return the record's mark: 16 hexadecimal digits that depend on all of its content and occur nowhere in it.

    The same content has the same mark in every view and run, so replies stay cached and a run can resume.
    """
    content, digest = "\n".join(part.text for part in parts_of(trajectory, "step")).lower(), trajectory.content_hash
    marks = (hashlib.sha256(f"{digest}/{i}".encode()).hexdigest()[:16] for i in itertools.count())
    return next(mark for mark in marks if mark not in content)


def fenced(parts: Iterable[Part], mark: str) -> str:
    """Return parts as the text that a judge reads, between two lines that carry the mark."""
    body = "\n".join(_line(part) for part in parts)
    return f"=== record {mark} begins ===\n{body}\n=== record {mark} ends ==="


def _line(part: Part) -> str:
    label = part.label if part.step is None else f"[step {part.step}] {part.label}"
    # splitlines knows every line break there is (carriage return, form feed, U+2028 …), not only "\n".
    text = "\n| ".join(_CONTROL_TOKEN.sub(r"\g<0> ", part.text).splitlines())
    return f"{label}: {text}" if label else text


def _step_parts(step: Step) -> list[Part]:
    action = None if step.action is None else _action_text(step.action)
    observation = None if step.observation is None else _json_text(step.observation)
    texts = {"agent": step.agent, "thought": step.thought, "action": action, "observation": observation}
    return [Part(label, text, step.index) for label, text in texts.items() if text is not None]


def _action_text(action: Action) -> str:
    return action.text or "" if action.tool is None else f"{action.tool} {_json_text(action.args)}"


def _json_text(value: Json) -> str:
    """Return a string as it is, anything else as JSON (where a line break stays escaped)."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
