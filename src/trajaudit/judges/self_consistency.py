"""Self-consistency: several samples of one LLM judge, and the majority decides.

The confidence is the share of the valid votes on the winning side, not what the samples state of themselves: it is the
ensemble's own estimate (the released verdicts of the testbed paper have it so: 2/3 or 1 of three samples). Choices that
move numbers: a flag needs more than half of the valid votes, so a tie is clean at 0.5; step and type are the most
frequent ones among the flagging votes that name one, the earlier sample winning a tie, and where votes name several
types each, so is every type that more than half of the flagging votes name; a failed sample does not vote. The paper's
text and its released results differ on the ensemble, so both are presets.

What the samples disagree on is recorded as uncertainty. ``semantic_entropy`` (Farquhar et al. 2024) is the entropy in
nats over meanings, not wordings: two answers mean the same if they agree in (faulty, step, set of types), whatever the
reasoning and the stated confidence. Signs that the samples have of their own (token entropy) are averaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TypeVar

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.judges.asking import Asking
from trajaudit.judges.llm_judge import LLMJudge
from trajaudit.llm.chat import Chat
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

VERSION = 2
T = TypeVar("T")


class Votes:
    """A judge that lets ``k`` samples of ``member`` vote. The samples of one trajectory are asked one after another.

    Args:
        member: sampled at a temperature above 0, else all samples would be copies.
        k: the number of samples; each has its own seed (``seed + i``) and its own place in the response cache.
    """

    def __init__(self, member: Asking, k: int) -> None:
        if k < 2:
            raise ValueError(f"k: expected at least 2 samples, got {k}")
        if (temperature := member.decoding.temperature) <= 0:
            raise ValueError(f"temperature: expected more than 0 (samples would be copies), got {temperature}")
        self.member, self.k = member, k
        self.name = f"selfcons{k}:{member.name}"
        self.spec: dict[str, Json] = {
            "judge": "self_consistency",
            "version": VERSION,
            "k": k,
            "member": member.spec,
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict of the majority.

        Raises:
            BudgetExceeded: the run has to stop; the samples that were answered are in the response cache.
        """
        votes = [await self.member.sample(trajectory, repeat) for repeat in range(self.k)]
        return replace(majority(votes), auditor=self.name, spec_hash=self._spec_hash)


class SelfConsistency(Votes):
    """``Votes`` over samples of an LLM judge; the arguments but ``k`` are those of ``LLMJudge``."""

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
        top_logprobs: int = 0,
    ) -> None:
        member = LLMJudge(
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
            top_logprobs=top_logprobs,
        )
        super().__init__(member, k)


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


def semantic_entropy(valid: Sequence[Verdict]) -> float:
    """Return the entropy in nats over what samples mean: equal (faulty, step, set of types) is one meaning.

    >>> flag, clean = (Verdict("t", "c", "j", "s", faulty=faulty) for faulty in (True, False))
    >>> round(semantic_entropy([flag, flag, clean]), 4)  # -2/3 ln 2/3 - 1/3 ln 1/3
    0.6365
    """
    meanings = Counter((sample.faulty, sample.step, frozenset(sample.types)) for sample in valid)
    shares = [count / len(valid) for count in meanings.values()]
    return max(0.0, -sum(share * math.log(share) for share in shares))


def voted_types(flags: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the type that most flagging votes name, and every other that more than half of them name."""
    counts = Counter(kind for flag in flags for kind in dict.fromkeys(flag.types))
    first = counts.most_common(1)
    return tuple(kind for kind, count in counts.most_common() if 2 * count > len(flags) or kind == first[0][0])


def _decided(valid: Sequence[Verdict]) -> Verdict:
    """Return the outcome of a vote among valid samples."""
    flags = [sample for sample in valid if sample.faulty]
    faulty = 2 * len(flags) > len(valid)
    step = most_frequent(flag.step for flag in flags if flag.step is not None) if faulty else None
    return replace(
        valid[0],
        faulty=faulty,
        score=len(flags) / len(valid),
        confidence=max(len(flags), len(valid) - len(flags)) / len(valid),
        step=step,
        types=voted_types(flags) if faulty else (),
        evidence=() if step is None else (Evidence(step),),
        rationale=f"{len(flags)} of {len(valid)} valid votes for faulty",
        uncertainty={"semantic_entropy": semantic_entropy(valid), **_mean_signs(valid)},
    )


def _mean_signs(valid: Sequence[Verdict]) -> dict[str, float]:
    """Return the mean of each sign of doubt that all samples have."""
    shared = [name for name in valid[0].uncertainty if all(name in sample.uncertainty for sample in valid)]
    return {name: sum(sample.uncertainty[name] for sample in valid) / len(valid) for name in shared}


def _failure(samples: Sequence[Verdict]) -> Verdict:
    """Return the first sample that failed in the most frequent way."""
    status = most_frequent(sample.status for sample in samples)
    return next(sample for sample in samples if sample.status == status)


def most_frequent(values: Iterable[T]) -> T | None:
    """Return the most frequent value, the first seen of equals; null of none."""
    return next((value for value, _ in Counter(values).most_common(1)), None)
