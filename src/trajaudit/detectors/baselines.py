"""Baselines that read next to nothing: what a detector has to beat before its score means anything.

Each is fitted like any detector, on the same runs, so the table shows what the base rate, the length of a run, the
usual place of a fault and the word "error" are worth on this very set. Their scores are frequencies in the training
runs with one success and one failure added (Laplace), or a logistic model's; they flag from one half.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trajaudit._fields import Json, dumps
from trajaudit.auditor import spec_hash
from trajaudit.detectors.linear import Linear, fit_linear
from trajaudit.trajectory import Fault, Trajectory
from trajaudit.verdict import Verdict

VERSION = 1
ERRORS = ("error", "exception", "traceback", "unavailable", "timed out", "not found", "invalid")
"""What an observation says when a call went wrong; keys count too, but not one whose value is null or empty."""


class Opinion(NamedTuple):
    """A score, and where a baseline has one, a step, step scores and a type."""

    score: float
    step: int | None = None
    step_scores: tuple[float, ...] | None = None
    type: str | None = None


class Baseline(ABC):
    """What baselines share: labelled runs to learn from, and opinions turned into verdicts."""

    name: str

    def __init__(self) -> None:
        self.spec: dict[str, Json] = {"detector": self.name, "version": VERSION}

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Learn from the labelled ones among ``runs``; nothing is kept, since fitting again takes no time.

        Raises:
            ValueError: no run is labelled.
        """
        labelled = [run for run in runs if run.label is not None]
        if not labelled:
            raise ValueError(f"{self.name}: expected labelled runs, got none")
        self.learn(labelled, np.array([run.label is not None and run.label.faulty for run in labelled]))

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run."""
        spec = spec_hash(self.spec)
        return [self._verdict(run, spec) for run in runs]

    @abstractmethod
    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        """Learn from labelled runs; ``faulty`` is [n]."""

    @abstractmethod
    def opinion(self, run: Trajectory) -> Opinion:
        """Return what is thought of one run."""

    def _verdict(self, run: Trajectory, spec: str) -> Verdict:
        start = time.perf_counter()
        said = self.opinion(run)
        faulty = said.score >= 0.5
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec,
            faulty=faulty,
            score=said.score,
            step=said.step if faulty else None,
            step_scores=said.step_scores,
            types=(said.type,) if faulty and said.type is not None else (),
            confidence=max(said.score, 1 - said.score),
            latency_s=time.perf_counter() - start,
        )


class Majority(Baseline):
    """The base rate for every run, and the most frequent type."""

    name = "majority"

    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        self.rate, self.type = _rate(faulty), _most_frequent(fault.type for fault in _firsts(runs))

    def opinion(self, run: Trajectory) -> Opinion:
        return Opinion(self.rate, type=self.type)


class PositionPrior(Baseline):
    """The base rate for every run, and the step at which faults are most frequent, counted from either end.

    Which end is decided on the training runs: the one whose most frequent step is right more often.
    """

    name = "position_prior"

    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        self.rate = _rate(faulty)
        located = [(_firsts([run]), len(run.steps)) for run in runs]
        known = [(of[0].step, length) for of, length in located if of and of[0].step is not None]
        ends = {
            False: Counter(step for step, _ in known),
            True: Counter(length - 1 - step for step, length in known),
        }
        self.from_end = max(ends, key=lambda end: max(ends[end].values(), default=0))
        self.counts = ends[self.from_end]

    def opinion(self, run: Trajectory) -> Opinion:
        length = len(run.steps)
        seen = [self.counts[length - 1 - i if self.from_end else i] for i in range(length)]
        scores = tuple(self.rate * (count + 1) / (sum(seen) + length) for count in seen)
        return Opinion(self.rate, int(np.argmax(seen)), scores)


class Length(Baseline):
    """A logistic model on the number of steps and the logarithm of the number of characters."""

    name = "length"

    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        self.model: Linear = fit_linear(np.array([_sizes(run) for run in runs]), [str(flag) for flag in faulty], 1.0)

    def opinion(self, run: Trajectory) -> Opinion:
        names = self.model.classes
        sure = self.model.probabilities(np.array([_sizes(run)]))[0]
        return Opinion(float(sure[names.index("True")]) if "True" in names else 0.0)


class HasError(Baseline):
    """The share of faulty runs among those with, and those without, an observation that speaks of an error."""

    name = "has_error"

    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        erring = np.array([_first_error(run) is not None for run in runs])
        self.rates = {flag: _rate(faulty[erring == flag]) for flag in (True, False)}

    def opinion(self, run: Trajectory) -> Opinion:
        step = _first_error(run)
        return Opinion(self.rates[step is not None], step)


def _rate(faulty: np.ndarray) -> float:
    return float((faulty.sum() + 1) / (len(faulty) + 2))


def _firsts(runs: Iterable[Trajectory]) -> list[Fault]:
    """Return the first fault of each run that has one."""
    return [run.label.first for run in runs if run.label is not None and run.label.first is not None]


def _most_frequent(types: Iterable[str]) -> str | None:
    counts = Counter(types)
    return min(counts, key=lambda name: (-counts[name], name)) if counts else None


def _sizes(run: Trajectory) -> tuple[float, float]:
    text = dumps([step.to_json() for step in run.steps]) + (run.final_answer or "")
    return float(len(run.steps)), float(np.log(len(text)))


def _first_error(run: Trajectory) -> int | None:
    """Return the first step whose observation speaks of an error."""
    for step in run.steps:
        said = dumps(_spoken(step.observation)).lower()
        if any(word in said for word in ERRORS):
            return step.index
    return None


def _spoken(data: Json) -> Json:
    """Return an observation without what is null, empty or false."""
    if isinstance(data, dict):
        return {key: kept for key, value in data.items() if (kept := _spoken(value))}
    return [_spoken(value) for value in data] if isinstance(data, list) else data
