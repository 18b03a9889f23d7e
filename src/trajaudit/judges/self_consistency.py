"""Self-consistency: several samples of one LLM judge, and the majority decides.

The confidence is the share of the valid votes on the winning side, not what the samples state of themselves: it is the
ensemble's own estimate (the released verdicts of the testbed paper have it so: 2/3 or 1 of three samples). Choices that
move numbers: a flag needs more than half of the valid votes, so a tie is clean at 0.5; step and type are the most
frequent ones among the flagging votes that name one, the earlier sample winning a tie; a failed sample does not vote.
The paper's text and its released results differ on the ensemble, so both are presets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TypeVar

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.judges.llm_judge import LLMJudge
from trajaudit.llm.chat import Chat
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

VERSION = 1
T = TypeVar("T")


class SelfConsistency:
    """A judge that lets ``k`` samples of an LLM judge vote. The samples of one trajectory are asked one after another.

    Args:
        k: the number of samples; each has its own seed (``seed + i``) and its own place in the response cache.
        The other arguments are those of ``LLMJudge``.

    """

    def __init__(
        self,
        chat: Chat,
        *,
        view: str,
        k: int,
        procedure: str,
        taxonomy: Taxonomy,
        temperature: float = 0.7,
        prompt: str = "v1",
        max_tokens: int = 1024,
        top_p: float = 1.0,
        seed: int | None = 0,
        overflow: str = "elide",
        reasoning_limit: int | None = None,
    ) -> None:
        if k < 2:
            raise ValueError(f"k: expected at least 2 samples, got {k}")
        if temperature <= 0:
            raise ValueError(f"temperature: expected more than 0 (samples would be copies), got {temperature}")
        self.k = k
        self.member = LLMJudge(
            chat,
            view=view,
            procedure=procedure,
            taxonomy=taxonomy,
            prompt=prompt,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            overflow=overflow,
            reasoning_limit=reasoning_limit,
        )
        self.name = f"selfcons{k}:{self.member.name}"
        self.spec: dict[str, Json] = {
            "judge": "self_consistency",
            "version": VERSION,
            "k": k,
            "member": self.member.spec,
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict of the majority.

        Raises:
            BudgetExceeded: the run has to stop; the samples that were answered are in the response cache.
        """
        votes = [await self.member.sample(trajectory, repeat) for repeat in range(self.k)]
        return replace(majority(votes), auditor=self.name, spec_hash=self._spec_hash)


def majority(samples: Sequence[Verdict]) -> Verdict:
    """Return what the valid samples of one trajectory decide; with none, the most frequent failure among them.

    A sample that the endpoint did not answer makes the whole verdict ``api_error``: the next run asks for it again (the
    answered ones are stored), where a vote without it would stand for good, and surer than it is.

    >>> def vote(faulty, **more):
    ...     return Verdict("t", "c", "step:m", "s", faulty=faulty, score=0.9 if faulty else 0.1, **more)
    >>> won = majority([vote(True, step=2), vote(False), vote(True, step=2, types=("wrong_tool",))])
    >>> won.faulty, round(won.score, 3), won.step, won.types, won.rationale
    (True, 0.667, 2, ('wrong_tool',), '2 of 3 valid votes for faulty')
    """
    valid = [sample for sample in samples if sample.ok]
    failures = Counter(sample.status for sample in samples if not sample.ok)
    failed = ", ".join(f"{n} {status}" for status, n in failures.items())
    latencies = [sample.latency_s for sample in samples if sample.latency_s is not None]
    unanswered = next((sample for sample in samples if sample.status == "api_error"), None)
    decided = unanswered or (_decided(valid) if valid else _failure(samples))
    note = f"{len(valid)} of {len(samples)} samples valid; failed: {failed}" if failed else None
    return replace(
        decided,
        usage=reduce(add, (sample.usage for sample in samples), Usage()),
        latency_s=sum(latencies) if latencies else None,
        detail=f"{note}; first: {decided.detail}" if decided.detail else note,
    )


def _decided(valid: Sequence[Verdict]) -> Verdict:
    """Return the outcome of a vote among valid samples."""
    flags = [sample for sample in valid if sample.faulty]
    faulty = 2 * len(flags) > len(valid)
    step = _most_frequent(flag.step for flag in flags if flag.step is not None) if faulty else None
    kind = _most_frequent(flag.types[0] for flag in flags if flag.types) if faulty else None
    return replace(
        valid[0],
        faulty=faulty,
        score=len(flags) / len(valid),
        confidence=max(len(flags), len(valid) - len(flags)) / len(valid),
        step=step,
        types=() if kind is None else (kind,),
        evidence=() if step is None else (Evidence(step),),
        rationale=f"{len(flags)} of {len(valid)} valid votes for faulty",
    )


def _failure(samples: Sequence[Verdict]) -> Verdict:
    """Return the first sample that failed in the most frequent way."""
    status = _most_frequent(sample.status for sample in samples)
    return next(sample for sample in samples if sample.status == status)


def _most_frequent(values: Iterable[T]) -> T | None:
    """Return the most frequent value, the first seen of equals; null of none."""
    return next((value for value, _ in Counter(values).most_common(1)), None)
