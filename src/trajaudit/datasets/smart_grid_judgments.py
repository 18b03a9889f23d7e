"""What one LLM judge said of each smart grid run: five execution-quality flags and whether it hallucinates.

A judgment is kept apart from its run, in a record of its own, since everything in it gives the label away. The judge
filled flags and label in one call, so they are one opinion and not six. It was shown the first ``SHOWN`` characters of
a run's steps, and an answer that rests on what was cut looks made up to it: ``source.meta.judge_saw_all`` tells these
runs apart. Of the runs that were judged again, some got both labels: those have none here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trajaudit._fields import Fields, Json
from trajaudit.dataset import Receipt
from trajaudit.taxonomy import EXECUTION_FLAGS

DIMENSIONS = {"result_verification": "generalized_result_verification"}
"""Flags that the judge's form spells in another way."""
FORM = (*(DIMENSIONS.get(flag, flag) for flag in EXECUTION_FLAGS), "hallucinations", "suggestions")
"""The keys of the form that the judge filled."""
SHOWN = 8000
"""How many characters of a run's steps the judge's prompt held, as JSON with an indent of 2; the rest was cut."""
BARE = "a bare NaN or Infinity, which is not JSON (kept as that word)"


@dataclass(frozen=True)
class Judgment:
    """One filled form. ``flags`` by the names of ``EXECUTION_FLAGS``, true where good; ``judge`` names the model."""

    flags: Mapping[str, bool]
    hallucinates: bool
    suggestions: str
    judge: str

    @property
    def score(self) -> float:
        """The share of the form's six dimensions that are good, as the harness that asked the judge computes it.

        >>> Judgment(dict.fromkeys(EXECUTION_FLAGS, False) | {"task_completion": True}, False, "", "j").score
        0.3333333333333333
        """
        return (sum(self.flags.values()) + (not self.hallucinates)) / (len(self.flags) + 1)

    @classmethod
    def read(cls, form: Fields, judge: str) -> Judgment:
        """Read a filled form.

        Raises:
            RecordError: a dimension is missing or not a boolean.
        """
        flags = {flag: form.need(DIMENSIONS.get(flag, flag), bool) for flag in EXECUTION_FLAGS}
        return cls(flags, form.need("hallucinations", bool), form.need("suggestions", str), judge)


@dataclass(frozen=True)
class JudgedRun:
    """A run as its harness recorded it, with the judgments that it got; ``where`` is the file (and line) it stands in.

    ``run_id`` is the start of the git blob hash of the recorded file, so a clone and a packed copy name it alike.
    """

    where: str
    run_id: str
    run_name: str
    scenario: str
    model: str
    record: Mapping[str, Json]
    judgments: tuple[Judgment, ...]

    @property
    def trajectory_id(self) -> str:
        return f"sg-{self.run_id}"


def bare_constants(receipt: Receipt) -> Callable[[str], str]:
    """Return what reads a bare NaN or Infinity, which tools of the harness wrote into records, as the word it is."""

    def read(word: str) -> str:
        receipt.inferred[BARE] = receipt.inferred.get(BARE, 0) + 1
        return word

    return read


def settled(judgments: Sequence[Judgment]) -> bool | None:
    """Return the label that all judgments of a run share; null where they contradict each other."""
    labels = {judgment.hallucinates for judgment in judgments}
    return labels.pop() if len(labels) == 1 else None
