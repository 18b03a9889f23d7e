"""The verdict record: what one auditor said of one trajectory, how surely, on what evidence and at what cost.

A rule engine, an LLM judge and a trained encoder all write this record, which is what lets one table hold them all.
Anything but ``status == "ok"`` means that there is no opinion: the opinion fields are then null and ``detail`` says
why. A failure is never turned into "clean" here; the analysis reports both the convention of the testbed paper (it
votes clean at 0.5) and the honest one (excluded, with bounds).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from trajaudit._fields import Fields, Json, RecordError, fail, lines, typed
from trajaudit.trajectory import Trajectory

VERSION = 1
STATUSES = ("ok", "abstain", "parse_fail", "truncated", "overflow", "refused", "api_error", "not_run")
RETRYABLE = ("api_error", "not_run")
"""Statuses that a later run tries again; every other one is an answer."""


N = TypeVar("N", int, float)


def _sum(a: N | None, b: N | None) -> N | None:
    return None if a is None or b is None else a + b


@dataclass(frozen=True, slots=True)
class Usage:
    """What a verdict cost. Tokens are null where the endpoint reports none; ``usd`` is null where no price is known."""

    calls: int = 0
    prompt_tokens: int | None = 0
    cached_tokens: int | None = 0
    completion_tokens: int | None = 0
    usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Add two costs; an unknown part makes the sum unknown, never smaller."""

        return Usage(
            self.calls + other.calls,
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
            _sum(self.usd, other.usd),
        )

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, obj: Json, where: str = "usage") -> Usage:
        fields = Fields(obj, where, cls.__slots__)
        return cls(
            fields.need("calls", int),
            fields.maybe("prompt_tokens", int),
            fields.maybe("cached_tokens", int),
            fields.maybe("completion_tokens", int),
            fields.maybe("usd", float),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict points at: a step (null for the final answer), a quote from it, and a note."""

    step: int | None = None
    quote: str | None = None
    note: str | None = None

    def to_json(self) -> Json:
        return {"step": self.step, "quote": self.quote, "note": self.note}

    @classmethod
    def from_json(cls, obj: Json, where: str = "evidence") -> Evidence:
        fields = Fields(obj, where, ("step", "quote", "note"))
        return cls(fields.maybe("step", int), fields.maybe("quote", str), fields.maybe("note", str))


@dataclass(frozen=True, slots=True)
class Unseen:
    """What did not fit the auditor's input: how many tokens, and of which steps some or all."""

    tokens: int
    steps: tuple[int, ...] = ()

    def to_json(self) -> Json:
        return {"tokens": self.tokens, "steps": list(self.steps)}

    @classmethod
    def from_json(cls, obj: Json, where: str = "unseen") -> Unseen:
        fields = Fields(obj, where, ("tokens", "steps"))
        return cls(fields.need("tokens", int), fields.each("steps", lambda item, at: typed(item, int, at)))


_KEYS = (
    *("version", "trajectory_id", "content_hash", "auditor", "spec_hash", "status", "faulty", "score", "step"),
    *("step_scores", "types", "confidence", "evidence", "rationale", "usage", "latency_s", "detail", "unseen"),
    "uncertainty",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One auditor's verdict on one trajectory.

    ``score`` is the probability of a fault, in [0, 1]; ``confidence`` the probability that the auditor's own
    ``faulty`` is right, in [0.5, 1] where it states one; ``step_scores`` one score a step. ``spec_hash`` identifies
    everything that could change the verdict: model, prompt, schema, decoding, seed, repeat, truncation, version.
    ``uncertainty`` holds signs of doubt by name (the entropy of the verdict's tokens, the disagreement of a panel),
    each 0 or more and the larger the less sure; unlike ``confidence`` they are measured, not stated.

    >>> Verdict("t1", "c", "rules", "s", faulty=True, score=0.95, confidence=0.95, step=2, types=("wrong_tool",)).status
    'ok'
    >>> Verdict("t1", "c", "rules", "s")
    Traceback (most recent call last):
    ...
    trajaudit._fields.RecordError: t1: faulty: expected true or false where status is ok, got None
    """

    trajectory_id: str
    content_hash: str
    auditor: str
    spec_hash: str
    status: str = "ok"
    faulty: bool | None = None
    score: float | None = None
    step: int | None = None
    step_scores: tuple[float, ...] | None = None
    types: tuple[str, ...] = ()
    confidence: float | None = None
    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None
    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None
    detail: str | None = None
    unseen: Unseen | None = None
    uncertainty: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        at = f"{self.trajectory_id}: "
        if self.status not in STATUSES:
            fail(f"{at}status", f"one of {', '.join(STATUSES)}", self.status)
        if self.status == "ok" and not isinstance(self.faulty, bool):
            fail(f"{at}faulty", "true or false where status is ok", self.faulty)
        if self.status != "ok" and (self.faulty is not None or self.score is not None):
            fail(f"{at}faulty and score", f"null where status is {self.status}", (self.faulty, self.score))
        for name in ("score", "confidence"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                fail(f"{at}{name}", "a number in [0, 1]", value)
        for name, value in self.uncertainty.items():
            if not 0 <= value < math.inf:
                fail(f"{at}uncertainty.{name}", "a number of 0 or more", value)

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "trajectory_id": self.trajectory_id,
            "content_hash": self.content_hash,
            "auditor": self.auditor,
            "spec_hash": self.spec_hash,
            "status": self.status,
            "faulty": self.faulty,
            "score": self.score,
            "step": self.step,
            "step_scores": None if self.step_scores is None else list(self.step_scores),
            "types": list(self.types),
            "confidence": self.confidence,
            "evidence": [item.to_json() for item in self.evidence],
            "rationale": self.rationale,
            "usage": self.usage.to_json(),
            "latency_s": self.latency_s,
            "detail": self.detail,
            "unseen": None if self.unseen is None else self.unseen.to_json(),
            **({"uncertainty": dict(self.uncertainty)} if self.uncertainty else {}),
        }

    @classmethod
    def from_json(cls, obj: Json, where: str = "verdict") -> Verdict:
        """Read a verdict of any version that a reader exists for; a file without a version is version 1."""
        version = typed(obj, dict, where).get("version", 1)
        if version not in READERS:
            fail(f"{where}: version", f"one of {sorted(READERS)} (written by a newer trajaudit?)", version)
        return READERS[version](obj, where)


def _read_v1(obj: Json, where: str) -> Verdict:
    fields = Fields(obj, f"{where}:", _KEYS)
    step_scores = fields.maybe("step_scores", list)
    unseen = fields.maybe("unseen", dict)
    doubts = fields.maybe("uncertainty", dict) or {}
    try:
        return Verdict(
            fields.need("trajectory_id", str),
            fields.need("content_hash", str),
            fields.need("auditor", str),
            fields.need("spec_hash", str),
            fields.need("status", str),
            fields.maybe("faulty", bool),
            fields.maybe("score", float),
            fields.maybe("step", int),
            None if step_scores is None else fields.each("step_scores", lambda item, at: typed(item, float, at)),
            fields.each("types", lambda item, at: typed(item, str, at)),
            fields.maybe("confidence", float),
            fields.each("evidence", Evidence.from_json),
            fields.maybe("rationale", str),
            Usage.from_json(fields.obj.get("usage") or {"calls": 0}, fields.at("usage")),
            fields.maybe("latency_s", float),
            fields.maybe("detail", str),
            None if unseen is None else Unseen.from_json(unseen, fields.at("unseen")),
            {name: typed(value, float, f"{fields.at('uncertainty')}.{name}") for name, value in doubts.items()},
        )
    except RecordError as error:
        message = str(error)
        raise error if message.startswith(where) else RecordError(f"{where}: {message}") from None


READERS = {1: _read_v1}
"""A reader for each version of the record ever written; none is removed when the next version comes."""


def read_verdicts(path: str | Path) -> Iterator[Verdict]:
    """Yield the verdicts of a JSONL file. A second verdict of one auditor spec on one trajectory is refused.

    Raises:
        RecordError: naming file, line and key.
    """
    seen: dict[tuple[str, str, str], str] = {}
    for where, obj in lines(path):
        verdict = Verdict.from_json(obj, where)
        key = (verdict.trajectory_id, verdict.auditor, verdict.spec_hash)
        if key in seen:
            raise RecordError(
                f"{where}: trajectory_id: duplicate verdict of {verdict.auditor!r} on {key[0]!r}, "
                f"first on line {seen[key]}"
            )
        seen[key] = where.rpartition(":")[2]
        yield verdict


def check_verdicts(verdicts: Iterable[Verdict], trajectories: Iterable[Trajectory]) -> None:
    """Refuse verdicts on unknown trajectories, and verdicts that were given on other content under the same id.

    Raises:
        RecordError: naming the verdict's auditor, the id and both hashes.
    """
    hashes = {trajectory.id: trajectory for trajectory in trajectories}
    known: dict[str, str] = {}
    for verdict in verdicts:
        if verdict.trajectory_id not in hashes:
            raise RecordError(f"{verdict.auditor!r}: trajectory_id: {verdict.trajectory_id!r} is not in the dataset")
        expected = known.setdefault(verdict.trajectory_id, hashes[verdict.trajectory_id].content_hash)
        if verdict.content_hash != expected:
            raise RecordError(
                f"{verdict.auditor!r} on {verdict.trajectory_id!r}: content_hash: expected {expected[:12]}…, "
                f"got {verdict.content_hash[:12]}…: it was given on other content under the same id"
            )


def by_auditor(verdicts: Iterable[Verdict]) -> Mapping[str, list[Verdict]]:
    """Group verdicts by auditor name, in order of first appearance."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.auditor, []).append(verdict)
    return groups
