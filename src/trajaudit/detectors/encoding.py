"""A run as an encoder reads it: windows of tokens, and which vector that comes out of them stands for which step.

All three paradigms share this form. A step classifier has one window a step, an entailment model one a piece of
premise, a long-context model one for the whole run with a vector at every step's marker; what comes after does not
care.

Nothing is cut in silence: every recipe counts the tokens that no window holds, and the steps that they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trajaudit._fields import Json
from trajaudit.trajectory import Trajectory


@dataclass(frozen=True)
class Window:
    """One input of the encoder.

    ``spans`` and ``units`` run side by side: the mean of the vectors from a start up to an end stands for that unit.
    Units are the steps, and after the last of them one for the run or its final answer. ``second`` is the index of the
    first token of the second segment (the hypothesis), the length where there is none.
    """

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    units: tuple[int, ...]
    second: int


@dataclass(frozen=True)
class Encoded:
    """A whole run as windows, with the number of its tokens in none of them and the steps that lost some."""

    windows: tuple[Window, ...]
    steps: int
    unseen: int = 0
    unseen_steps: tuple[int, ...] = field(default=())

    @property
    def tokens(self) -> int:
        return sum(len(window.ids) for window in self.windows)


class Tokenizer(Protocol):
    """The part of a Hugging Face tokenizer that recipes use."""

    cls_token_id: Any
    sep_token_id: Any

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...

    def num_special_tokens_to_add(self, pair: bool = False) -> int: ...


class Recipe(Protocol):
    """A way from a run to windows; ``spec`` is everything that could change them but the tokenizer."""

    @property
    def spec(self) -> dict[str, Json]: ...

    def encode(self, run: Trajectory, tokenizer: Tokenizer) -> Encoded: ...


def ids_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the tokens of a text without special ones."""
    return tokenizer.encode(text, add_special_tokens=False)


def caps(lengths: Sequence[int], budget: int) -> list[int]:
    """Return how many tokens of each part fit into ``budget``: the longest parts give way first.

    Short parts (a thought, a call) stay whole while a long observation is cut, which is where a fault is more seldom.

    >>> caps([10, 100, 40], 90)
    [10, 40, 40]
    >>> caps([3, 4], 90)
    [3, 4]
    """
    allowed, left = [0] * len(lengths), budget
    for rank, position in enumerate(sorted(range(len(lengths)), key=lambda i: lengths[i])):
        share = left // (len(lengths) - rank)
        allowed[position] = min(lengths[position], share)
        left -= allowed[position]
    return allowed


def head_tail(ids: Sequence[int], cap: int) -> list[int]:
    """Return the first and the last tokens of a part, ``cap`` in all: conclusions stand at either end.

    >>> head_tail([1, 2, 3, 4, 5], 3)
    [1, 2, 5]
    """
    if len(ids) <= cap:
        return list(ids)
    tail = cap // 2
    return [*ids[: cap - tail], *ids[len(ids) - tail :]]
