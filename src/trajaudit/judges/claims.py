"""The claim checker as a judge: it reads the final answer, which nobody else reads, and holds it against what was seen.

The answer is cut into atomic claims (`claim_sentences`), each is checked by matching against the observations
(`claim_check`), and what matching cannot decide goes to a model of entailment where one is given. Two readings have
names, since they differ on healthy runs: ``strict`` asks for an observation behind every claim, ``standing_claims``
lets pass what the procedure of the dataset says a reply may always state. The second needs a procedure that lists some.

Scores are set, not measured: the strength of the weightiest finding, and ``silent`` where none is left, since calls are
not read here. A claim of the answer
is located at the step that sends it, else at the last one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from trajaudit._fields import Json, dumps
from trajaudit.auditor import spec_hash
from trajaudit.judges.claim_check import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    UNSUPPORTED,
    Entailment,
    Finding,
    Sources,
    check,
)
from trajaudit.judges.claim_facts import Observed, observed
from trajaudit.judges.claim_premises import prepared
from trajaudit.judges.claim_sentences import allowed, intended, sentences
from trajaudit.judges.claim_sources import learn_sources, read_sources
from trajaudit.judges.claim_values import Value, values
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Verdict

VERSION = 1
MODEL = "claim_sources.json"

TYPES: dict[str, dict[str, str]] = {
    "support_desk": {
        "invented": "unsupported_claim",
        UNSUPPORTED: "unsupported_claim",
        CONTRADICTED: "unsupported_claim",
    },
    "trajel": {"invented": "referential", UNSUPPORTED: "factual", CONTRADICTED: "factual"},
}
"""For each taxonomy, the fault type that a finding stands for."""

At = tuple[int | None, Finding]


class ClaimsJudge:
    """A judge that flags a run in which a claim is unsupported or contradicted.

    Args:
        taxonomy: whose types the findings are named by; a taxonomy without an entry in `TYPES` gets no types.
        standing_claims: what the procedure lets a reply state without an observation.
        reading: ``strict`` or ``standing_claims``.
        thoughts: check what thoughts assert, too (their values only; a plan asserts nothing).
        sources: a file of learnt sources (`claim_sources`), or null for any field.
        silent: the score of a run whose claims all pass, in [0, 0.5).
        entailment: decides what matching leaves undecided; null leaves it undecided, which is no fault.

    Raises:
        ValueError: an unknown reading, a score out of range.
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        standing_claims: Sequence[str] = (),
        *,
        reading: Literal["strict", "standing_claims"] = "standing_claims",
        thoughts: bool = True,
        sources: str | Sources | None = None,
        entailment: Entailment | None = None,
        silent: float = 0.3,
        name: str = "claims",
    ) -> None:
        if reading not in ("strict", "standing_claims"):
            raise ValueError(f"reading: expected strict or standing_claims, got {reading!r}")
        if not 0 <= silent < 0.5:
            raise ValueError(f"silent: expected a score in [0, 0.5), got {silent}")
        self.name, self.thoughts, self.entailment, self.silent = name, thoughts, entailment, silent
        self.standing = tuple(standing_claims) if reading == "standing_claims" else ()
        self.types = TYPES.get(taxonomy.name, {})
        self.spec: dict[str, Json] = {
            "judge": "claims",
            "version": VERSION,
            "taxonomy": taxonomy.name,
            "reading": reading,
            "standing_claims": list(self.standing),
            "thoughts": thoughts,
            "silent": silent,
            "entailment": None if entailment is None else entailment.name,
        }
        self._take(read_sources(sources) if isinstance(sources, str) else sources)

    def _take(self, sources: Sources | None) -> None:
        """Use learnt sources; what the verdicts depend on is part of the spec."""
        self.sources = sources
        self.spec["sources"] = None if sources is None else {kind: list(of) for kind, of in sources.items()}
        self._spec_hash = spec_hash(self.spec)

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Learn from the clean ones among ``runs`` where answers take their values from (`claim_sources`).

        A run without a label is taken to be clean. Without this, any field may support a value.
        """
        self._take(learn_sources(run for run in runs if run.label is None or not run.label.faulty))
        if folder is not None:
            (folder / MODEL).write_text(dumps(self.sources) + "\n", encoding="utf-8")

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run."""
        return [self.audit(run) for run in runs]

    async def judge(self, trajectory: Trajectory) -> Verdict:
        return self.audit(trajectory)

    def audit(self, trajectory: Trajectory) -> Verdict:
        """Return the verdict on one run; a run without a final answer is judged by its thoughts alone."""
        start = time.perf_counter()
        found = [item for item in self.findings(trajectory) if item[1].status in (UNSUPPORTED, CONTRADICTED)]
        sent = _sent_at(trajectory)
        steps = [sent if step is None else step for step, _ in found]
        worst = max((finding.strength for _, finding in found), default=self.silent)
        scores = [self.silent] * len(trajectory.steps)
        for step, (_, finding) in zip(steps, found, strict=True):
            scores[step] = max(scores[step], finding.strength)
        kinds = ["invented" if finding.invented else finding.status for _, finding in found]
        return Verdict(
            trajectory.id,
            trajectory.content_hash,
            self.name,
            self._spec_hash,
            faulty=bool(found),
            score=worst,
            step=min(steps, default=None),
            step_scores=tuple(scores),
            types=tuple(dict.fromkeys(self.types[kind] for kind in kinds if kind in self.types)),
            confidence=max(worst, 1 - worst),
            evidence=tuple(piece for item in found for piece in _evidence(item)),
            rationale=_sentence(found[0][1]) if found else "every claim that could be checked is supported",
            latency_s=time.perf_counter() - start,
        )

    def findings(self, trajectory: Trajectory) -> Iterator[At]:
        """Yield what became of every claim, with the step of its thought; null for the final answer."""
        seen = observed(trajectory)
        for claim in sentences(trajectory.final_answer or ""):
            if not allowed(claim, self.standing):
                yield None, self._decided(check(claim, seen, sources=self.sources), seen)
        if self.thoughts:
            for step in trajectory.steps:
                yield from ((step.index, finding) for finding in _of_thought(step.thought or "", seen, step.index))

    def _decided(self, finding: Finding, seen: Observed) -> Finding:
        """Return the finding, with what matching could not decide decided by entailment."""
        words_alone = finding.status == UNDECIDED or (finding.status == UNSUPPORTED and finding.about is None)
        if self.entailment is None or not words_alone:
            return finding
        given, _, _ = prepared(finding.claim, seen)
        said = self.entailment.entails([fact.quote for fact in given.facts] + given.texts, finding.claim)
        if said.entailment >= max(said.neutral, said.contradiction):
            return finding._replace(status=SUPPORTED, strength=0.0)
        status = CONTRADICTED if said.contradiction > said.neutral else UNSUPPORTED
        return finding._replace(status=status, strength=1 - said.entailment)


def _of_thought(thought: str, seen: Observed, step: int) -> Iterator[Finding]:
    """Yield what became of the values that a thought asserts, against what was observed before its step."""
    for claim in sentences(thought):
        if intended(claim) or not any(_firm(value) for value in values(claim)):
            continue
        finding = check(claim, seen, before=step)
        if finding.about is not None and any(_firm(v) and v.text == finding.about for v in values(claim)):
            yield finding


def _firm(value: Value) -> bool:
    """Return whether a value of a thought is worth checking: not a name, nor a bare whole number."""
    if value.kind == "number":
        return bool(value.dimension) or value.slack < 0.5
    return value.kind != "name"


def _sent_at(trajectory: Trajectory) -> int:
    """Return the last step whose call carries the final answer, else the last step."""
    answer = (trajectory.final_answer or "").strip()
    for step in reversed(trajectory.steps):
        args = step.action.args if step.action is not None else None
        if args and answer and any(isinstance(value, str) and value.strip() == answer for value in args.values()):
            return step.index
    return len(trajectory.steps) - 1


def _evidence(item: At) -> Iterator[Evidence]:
    """Yield the sentence, and beside it what was observed instead."""
    step, finding = item
    yield Evidence(step, finding.claim, _sentence(finding))
    if finding.fact is not None and finding.fact.step >= 0:
        yield Evidence(finding.fact.step, finding.fact.quote, f"observed ({finding.fact.field})")


def _sentence(finding: Finding) -> str:
    about = f" {finding.about!r}" if finding.about else ""
    if finding.fact is not None:
        return f"contradicted:{about} is stated, {finding.fact.quote} was observed"
    return f"unsupported:{about or ' what it says'} stands in no observation"
