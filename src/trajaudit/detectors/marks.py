"""Words that tell an encoder which values of a run appear from nowhere: "328.36 (new)".

A small encoder reads that two sentences speak of a reading, hardly that one says 328.36 and the other 302.64: the mean
of many token vectors does not hold single digits. Whether a value stands in a text before it is a matter of comparing
strings, so it is compared, and the outcome is written beside the value, where an encoder reads it like any word. It
tells what is new, never what is wrong: clean runs derive values too, and the detector has to learn which matter.

The choice that changes the numbers is what a value is compared with, and it follows the paradigm: a step classifier
sees one step, so a value is new that stands in no other part of the *step*; the others see everything before, so a
value is new that stands nowhere in the *history*: the task, what was observed, and what the agent itself has said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from trajaudit._fields import Json, dumps
from trajaudit.trajectory import Action, Step, Trajectory

VERSION = 1
MARK = "(new)"
_INSIDE = r"[^\s,;:()\[\]{}'\"=]"
_VALUE = re.compile(
    r"(?:(?P<word>[A-Z][\w-]*) (?=\d+(?!\w|[.,]\d)))?"
    rf"(?P<value>{_INSIDE}*\d(?:{_INSIDE}|[.,:](?=\d))*)"
    r"|(?<=[a-z0-9,] )(?P<name>[A-Z][a-z]{2,})\b"
)
_NUMBER = re.compile(r"[^\w.+-]*(-?\d[\d,]*(?:\.\d+)?)\W*")
_NAME = re.compile(r"[A-Z][\w-]*(?= \d+\b)")
_LONG = 6
"""An argument of more words is a sentence: its values are compared, not the whole."""


def marked(run: Trajectory, context: Literal["step", "history"]) -> Trajectory:
    """Return the run with `MARK` after each new value of its thoughts, actions and final answer.

    >>> from trajaudit.trajectory import Source
    >>> first = Step(0, None, Action("read", {"sensor": "S-1"}), "31.5 C")
    >>> second = Step(1, "So 31.5 C, or 13.5 C?", None, None)
    >>> answer = "S-1 is at 13.5 C, S-2 at 32."
    >>> run = marked(Trajectory("r", "g", "Read S-1.", (first, second), answer, Source("x")), "history")
    >>> run.steps[1].thought, run.final_answer
    ('So 31.5 C, or 13.5 (new) C?', 'S-1 is at 13.5 C, S-2 (new) at 32.')
    """
    return _by_step(run) if context == "step" else _by_history(run)


class Known:
    """What has been said so far, asked whether it holds a value."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._text, self._numbers, self._names = "", list[float](), set[str]()
        self._rounded: dict[int, set[float]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        self._text += "\n" + text.lower()
        self._numbers += [float(found) for found in map(_number, _values(text)) if found is not None]
        self._names |= {name.lower() for name in _NAME.findall(text)}
        self._rounded.clear()

    def holds(self, value: str) -> bool:
        """Return whether a text before holds the value; a number also where it is rounded to fewer digits.

        >>> Known(["mean 41.267, order ORD-7"]).holds("41.27"), Known(["mean 41.267"]).holds("41.72")
        (True, False)
        """
        number = _number(value)
        if number is None:
            return value.lower().strip(".,") in self._text
        decimals = len(number.partition(".")[2])
        if decimals not in self._rounded:
            self._rounded[decimals] = {round(known, decimals) for known in self._numbers}
        return round(float(number), decimals) in self._rounded[decimals]

    def named(self, word: str) -> bool:
        """Return whether the word was seen before a number, as the first half of a name such as "Pump 11"."""
        return word.lower() in self._names

    def marked(self, text: str) -> str:
        """Return a text with `MARK` after each of its values that is not held."""

        def one(match: re.Match[str]) -> str:
            if (name := match["name"]) is not None:
                return name if name.lower() in self._text else f"{name} {MARK}"
            word, value = match["word"], match["value"].rstrip(".")
            rest = match["value"][len(value) :]
            whole = f"{word} {value}" if word else value
            new = f"{word} {value}".lower() not in self._text if word and self.named(word) else not self.holds(value)
            return f"{whole} {MARK}{rest}" if new else match[0]

        return _VALUE.sub(one, text)

    def marked_value(self, value: Json) -> Json:
        """Return an argument of a call with its new values marked; numbers become text where they are new."""
        if isinstance(value, Mapping):
            return {key: self.marked_value(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.marked_value(part) for part in value]
        if isinstance(value, str) and value and len(value.split()) <= _LONG and not re.search(r"\d", value):
            return value if value.lower() in self._text else f"{value} {MARK}"
        if isinstance(value, str):
            return self.marked(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self.holds(str(value)) else f"{value} {MARK}"
        return value


def _by_history(run: Trajectory) -> Trajectory:
    known, steps = Known([run.task, *(step.agent or "" for step in run.steps)]), []
    for step in run.steps:
        steps.append(_step(step, known, known))
        for text in (_said(step.thought), _done(step.action), _said(step.observation)):
            known.add(text)
    answer = run.final_answer
    return replace(run, steps=tuple(steps), final_answer=None if answer is None else known.marked(answer))


def _by_step(run: Trajectory) -> Trajectory:
    steps = []
    for step in run.steps:
        thought, action, observed = _said(step.thought), _done(step.action), _said(step.observation)
        steps.append(_step(step, Known([action, observed]), Known([thought, observed])))
    if run.final_answer is None or not run.steps:
        return replace(run, steps=tuple(steps))
    last = run.steps[-1]
    known = Known([_said(last.thought), _done(last.action), _said(last.observation)])
    return replace(run, steps=tuple(steps), final_answer=known.marked(run.final_answer))


def _step(step: Step, of_thought: Known, of_action: Known) -> Step:
    thought = None if step.thought is None else of_thought.marked(step.thought)
    action = step.action
    if action is not None and action.tool is None:
        action = Action(text=None if action.text is None else of_action.marked(action.text))
    elif action is not None:
        action = replace(action, args=of_action.marked_value(action.args))
    return replace(step, thought=thought, action=action)


def _said(value: Json) -> str:
    return "" if value is None else value if isinstance(value, str) else dumps(value)


def _done(action: Action | None) -> str:
    return "" if action is None else action.text or "" if action.tool is None else _said(action.args)


def _values(text: str) -> list[str]:
    return [match["value"] for match in _VALUE.finditer(text) if match["value"]]


def _number(value: str) -> str | None:
    """Return the digits of a value that is a number, with or without a currency or a unit sign; null of any other.

    >>> [_number(value) for value in ("€1,250.50", "138,42", "12%", "T-1")]
    ['1250.50', '138.42', '12', None]
    """
    found = _NUMBER.fullmatch(value.rstrip("."))
    if found is None:
        return None
    whole, comma, rest = found[1].rpartition(",")
    decimal = comma and "," not in whole and "." not in found[1] and len(rest) != 3
    return f"{whole}.{rest}" if decimal else found[1].replace(",", "")
