"""Labels and verdicts turned into arrays, once, before anything is counted.

Two choices here change the numbers. Verdicts are reconciled against *all trajectories asked*, so that one which is
missing counts as ``not_run`` instead of leaving the denominator. And a probability that an auditor did not state is
taken from the one that it did: the score of a fault is ``confidence`` where it says faulty and ``1 - confidence``
where it does not, and the other way round, which is what the two fields mean (`trajaudit.verdict`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from trajaudit.analysis.result import CONVENTIONS, Denominator
from trajaudit.analysis.statistic import BoolArray, FloatArray, IntArray, TextArray
from trajaudit.taxonomy import TAXONOMIES
from trajaudit.trajectory import Label, Trajectory
from trajaudit.verdict import Verdict, by_auditor

COSTS = ("calls", "prompt_tokens", "completion_tokens", "seconds", "usd")
"""What a verdict cost, in the units of `trajaudit.verdict.Usage`; seconds are wall-clock."""


@dataclass(frozen=True, eq=False)
class Items:
    """The labels of n trajectories. Where several faults are labelled, the earliest one is gold.

    Attributes:
        ids, groups: name and resampling unit of each trajectory.
        faulty: [n]. stratum: [n], clean, silent, loud or unknown. type: [n], the gold fault type, "" where none.
        step: [n], the gold step, -1 where none or unknown. fault_steps: the steps of all labelled faults.
        length: [n], the number of steps.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    faulty: BoolArray
    stratum: TextArray
    type: TextArray
    step: IntArray
    fault_steps: tuple[frozenset[int], ...]
    length: IntArray

    @property
    def types(self) -> tuple[str, ...]:
        """The gold fault types that occur, in the order of the taxonomy that they belong to."""
        return ordered_types(self.type)


@dataclass(frozen=True, eq=False)
class Answers:
    """What one auditor said of n trajectories.

    Attributes:
        counted: [n], the trajectories that metrics are taken over. status: [n].
        flagged: [n]. score, confidence: [n], NaN where not stated. step: [n], -1 where none is named.
        type: [n], the first type listed, "" where none. cost: for each of `COSTS`, [n], NaN where unknown.
        truncated: [n], the trajectories that were read only in part.
    """

    auditor: str
    counted: BoolArray
    status: TextArray
    flagged: BoolArray
    score: FloatArray
    confidence: FloatArray
    step: IntArray
    type: TextArray
    cost: Mapping[str, FloatArray]
    truncated: BoolArray

    @property
    def denominator(self) -> Denominator:
        answered = self.status == "ok"
        causes, counts = np.unique(self.status[~answered], return_counts=True)
        failed = {str(cause): int(count) for cause, count in zip(causes, counts, strict=True)}
        return Denominator(len(self.status), int(answered.sum()), failed, int(self.truncated.sum()))


def ordered_types(types: TextArray) -> tuple[str, ...]:
    """Return the distinct fault types in their taxonomies' order; unknown ones follow alphabetically."""
    known = [name for taxonomy in TAXONOMIES.values() for name in taxonomy.types]
    present = {str(name) for name in np.unique(types)} - {""}
    return tuple(sorted(present, key=lambda name: (known.index(name) if name in known else len(known), name)))


def tabulate(trajectories: Iterable[Trajectory], verdicts: Iterable[Verdict]) -> tuple[Items, dict[str, Answers]]:
    """Return the labels and, for each auditor, its answers in the same order.

    Raises:
        ValueError: for trajectories without a label, and for verdicts that are doubled or on unknown trajectories.
    """
    items = tabulate_labels(trajectories)
    position = {name: i for i, name in enumerate(items.ids)}
    return items, {name: _answers(name, own, position) for name, own in by_auditor(verdicts).items()}


def tabulate_labels(trajectories: Iterable[Trajectory]) -> Items:
    """Return the labels of trajectories; one without a label cannot be scored, and is refused."""
    trajectories = list(trajectories)
    bare = [trajectory.id for trajectory in trajectories if trajectory.label is None]
    if bare or not trajectories:
        given = f"{len(bare)} without, first {bare[0]!r}" if bare else "none"
        raise ValueError(f"expected {len(trajectories) or 'some'} trajectories, each with a label; got {given}")
    labels = [trajectory.label for trajectory in trajectories if trajectory.label is not None]
    return Items(
        tuple(trajectory.id for trajectory in trajectories),
        tuple(trajectory.group for trajectory in trajectories),
        np.array([label.faulty for label in labels]),
        np.array([label.stratum for label in labels]),
        np.array(["" if label.first is None else label.first.type for label in labels]),
        np.array([_gold_step(label) for label in labels]),
        tuple(frozenset(fault.step for fault in label.faults if fault.step is not None) for label in labels),
        np.array([len(trajectory.steps) for trajectory in trajectories]),
    )


def _gold_step(label: Label) -> int:
    return -1 if label.first is None or label.first.step is None else label.first.step


def _answers(auditor: str, verdicts: list[Verdict], position: Mapping[str, int]) -> Answers:
    rows: list[Verdict | None] = [None] * len(position)
    for verdict in verdicts:
        at = position.get(verdict.trajectory_id)
        if at is None:
            raise ValueError(
                f"{auditor!r}: a verdict on {verdict.trajectory_id!r}, which is not among the trajectories"
            )
        if rows[at] is not None:
            raise ValueError(f"{auditor!r}: expected one verdict on {verdict.trajectory_id!r}, got several")
        rows[at] = verdict
    status = np.array(["not_run" if row is None else row.status for row in rows])
    return Answers(
        auditor,
        status == "ok",
        status,
        np.array([bool(row is not None and row.faulty) for row in rows]),
        np.array([_score(row) for row in rows]),
        np.array([_confidence(row) for row in rows]),
        np.array([-1 if row is None or row.step is None else row.step for row in rows]),
        np.array(["" if row is None or not row.types else row.types[0] for row in rows]),
        {name: np.array([_cost(row, name) for row in rows]) for name in COSTS},
        np.array([row is not None and (row.unseen is not None or row.status == "truncated") for row in rows]),
    )


def _score(verdict: Verdict | None) -> float:
    return np.nan if verdict is None else _stated(verdict, verdict.score, verdict.confidence)


def _confidence(verdict: Verdict | None) -> float:
    return np.nan if verdict is None else _stated(verdict, verdict.confidence, verdict.score)


def _stated(verdict: Verdict, own: float | None, other: float | None) -> float:
    """Return a probability of an opinion: its own, or the one that follows from the other; NaN where neither is."""
    if not verdict.ok:
        return np.nan
    if own is not None or other is None:
        return np.nan if own is None else own
    return other if verdict.faulty else 1 - other


def _cost(verdict: Verdict | None, name: str) -> float:
    if verdict is None:
        return np.nan
    value = verdict.latency_s if name == "seconds" else getattr(verdict.usage, name)
    return np.nan if value is None else float(value)


def under(answers: Answers, convention: str) -> Answers:
    """Return the answers as a convention counts them (`trajaudit.analysis.result.CONVENTIONS`).

    ``published``: every trajectory counts, a verdict without an opinion votes clean at 0.5, and confidence is clamped
    to [0.5, 1]. ``answered``: only opinions count, and confidence stays as it was stated.
    """
    if convention not in CONVENTIONS:
        raise ValueError(f"convention: expected one of {', '.join(CONVENTIONS)}, got {convention!r}")
    ok = answers.status == "ok"
    if convention == "answered":
        return replace(answers, counted=ok)
    return replace(
        answers,
        counted=np.ones(len(ok), dtype=np.bool_),
        score=np.where(ok, answers.score, 0.5),
        confidence=np.clip(np.where(ok, answers.confidence, 0.5), 0.5, 1.0),
    )
