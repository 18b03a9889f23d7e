"""The grounding detector: does what a run says rest on what it observed? Three small models, averaged.

The members err on different runs, so the mean of their logits, all weighing alike, ranks better than any of them.
Options of a member are chosen on inner folds of the training runs. A label that comes from a judge who misses faults
can be allowed for: ``missed`` is the share of faulty runs that are labelled clean, and each clean label then counts as
faulty with the probability that it is one of those (Elkan and Noto 2008), as far as inner folds can tell.

Nothing is kept of a fit: from cached inputs it takes seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.detectors.calibration import Calibration, calibrate
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.grounding_evidence import evidence
from trajaudit.detectors.grounding_inputs import Inputs, inputs_of
from trajaudit.detectors.grounding_members import (
    MEMBERS,
    Floats,
    Meaning,
    Member,
    Trees,
    Words,
    best,
    inner_probabilities,
)
from trajaudit.detectors.grounding_reading import Reading
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.detectors.splits import stratified
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Unseen, Verdict

VERSION = 1
_SURE = 1e-3
"""Probabilities of members are kept this far from 0 and 1, so that none can overrule the others alone."""


class Grounding:
    """The detector; arguments as for `grounding`."""

    def __init__(
        self,
        encoder: Encoder,
        cache: Path,
        *,
        members: Sequence[str],
        shares: Sequence[float],
        strengths: Sequence[float],
        window: int,
        missed: float,
        inner_folds: int,
        seed: int,
    ) -> None:
        self.name = "grounding" if set(members) == set(MEMBERS) else f"grounding_{'_'.join(members)}"
        self.name += "_missed" if missed else ""
        self._encoder, self._identity, self._cache = encoder, encoder.identity(), cache
        self._options = {"words": tuple(shares), "meaning": tuple(strengths), "trees": (float(seed),)}
        self._window, self._missed, self._inner_folds, self._seed = window, missed, inner_folds, seed
        self.spec: dict[str, Json] = {
            "detector": "grounding",
            "version": VERSION,
            "encoder": self._identity,
            "members": list(members),
            "shares": list(shares),
            "strengths": list(strengths),
            "window": window,
            "missed": missed,
            "inner_folds": inner_folds,
            "seed": seed,
        }
        self._members: dict[str, Member] = {}
        self.chosen: dict[str, float] = {}

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Learn from labelled runs; see `trajaudit.detectors.detector.Detector`."""
        labelled = [run for run in runs if run.label is not None]
        faulty = np.array([run.label is not None and run.label.faulty for run in labelled])
        if set(faulty.tolist()) != {True, False}:
            raise ValueError(f"{self.name}: expected labelled runs of both classes to train on")
        inputs, groups = self._inputs(labelled), [run.group for run in labelled]
        fold = stratified(labelled, clusters(labelled, None), min(self._inner_folds, len(set(groups))), self._seed)
        self.chosen = {
            name: best(self._options[name], _MAKE[name], inputs, faulty, groups, fold) for name in self.spec["members"]
        }
        target = faulty.astype(np.float64)
        if self._missed:
            target = relabelled(self._inner(inputs, target, groups, fold), faulty, self._missed)
        self._members = {name: _MAKE[name](option) for name, option in self.chosen.items()}
        for member in self._members.values():
            member.fit(inputs, target, groups)

    def _inner(self, inputs: Inputs, target: Floats, groups: Sequence[str], fold: NDArray[np.int64]) -> Floats:
        """Return [n] probabilities of the mean of the members, out of fold."""
        makers = [partial(_MAKE[name], option) for name, option in self.chosen.items()]
        return mean_of([inner_probabilities(make, inputs, target, groups, fold) for make in makers])

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one uncalibrated verdict a run, in order; its rationale holds what each member said."""
        if not self._members:
            raise ValueError(f"{self.name}: asked before it was fitted")
        if not runs:
            return []
        start = time.perf_counter()
        inputs, spec = self._inputs(runs), spec_hash(self.spec)
        said = {name: member.probabilities(inputs) for name, member in self._members.items()}
        scores = mean_of(list(said.values()))
        each = (time.perf_counter() - start) / len(runs)
        return [
            self._verdict(run, spec, float(score), {name: p[i] for name, p in said.items()}, int(lost), each)
            for i, (run, score, lost) in enumerate(zip(runs, scores, inputs.unseen, strict=True))
        ]

    def _verdict(
        self, run: Trajectory, spec: str, score: float, said: dict[str, float], lost: int, seconds: float
    ) -> Verdict:
        faulty = score >= 0.5
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec,
            faulty=faulty,
            score=score,
            confidence=max(score, 1 - score),
            evidence=evidence(Reading.of(run)),
            rationale=", ".join(f"{name} {value:.3f}" for name, value in said.items()),
            latency_s=seconds,
            unseen=Unseen(lost) if lost else None,
        )

    def _inputs(self, runs: Sequence[Trajectory]) -> Inputs:
        return inputs_of(runs, self._encoder, self._identity, self._window, self._cache)


_MAKE: dict[str, Callable[[float], Member]] = {
    "trees": lambda seed: Trees(int(seed)),
    "words": Words,
    "meaning": Meaning,
}


def mean_of(probabilities: Sequence[Floats]) -> Floats:
    """Return the probability at the mean logit, [n].

    >>> mean_of([np.array([0.8, 0.5]), np.array([0.5, 0.5])]).round(3).tolist()
    [0.667, 0.5]
    """
    kept = np.clip(np.stack(list(probabilities)), _SURE, 1 - _SURE)
    return np.asarray(expit(logit(kept).mean(axis=0)))


def relabelled(probability: Floats, faulty: NDArray[np.bool_], missed: float) -> Floats:
    """Return the probability that each run is truly faulty, given its label: 1 where it says so.

    With a recall of c = 1 - ``missed``, a run that is labelled faulty with probability p is truly faulty and labelled
    clean with probability p (1 - c) / c; of the clean labels, 1 - p of all, that is the share returned.

    Args:
        probability: [n], of a faulty *label*, out of fold; calibrated here first.

    >>> relabelled(np.array([0.9, 0.5, 0.2]), np.array([True, True, False]), 0.0).tolist()
    [1.0, 1.0, 0.0]
    """
    fitted = calibrate(probability.tolist(), faulty.tolist(), Calibration("platt", false_alarms=None))
    p = np.array([fitted.probability(value) for value in probability.tolist()])
    share = missed / (1 - missed) * p / np.maximum(1 - p, 1e-9)
    return np.where(faulty, 1.0, np.clip(share, 0.0, 1.0))


def grounding(
    *,
    encoder: Encoder,
    cache: Path,
    seed: int = 0,
    members: list[Literal["trees", "words", "meaning"]] | None = None,
    shares: list[float] | None = None,
    strengths: list[float] | None = None,
    window: int = 256,
    missed: float = 0.0,
    inner_folds: int = 3,
) -> Grounding:
    """Return the grounding detector, not fitted.

    Args:
        members: whose logits are averaged; all of `MEMBERS` where null.
        shares: how widespread an n-gram must be among training groups; the best on inner folds is taken.
        strengths: the inverse penalty on the answer's vector; likewise.
        window: tokens that are read of an answer.
        missed: share of faulty runs that are labelled clean.
        inner_folds: by group.

    Raises:
        ValueError: naming the argument.
    """
    if not 0 <= missed < 1:
        raise ValueError(f"missed: expected a share in [0, 1), got {missed}")
    if inner_folds < 2:
        raise ValueError(f"inner_folds: expected at least 2, got {inner_folds}")
    if not 16 <= window <= encoder.window:
        raise ValueError(f"window: expected 16 to {encoder.window} tokens, what the encoder reads, got {window}")
    return Grounding(
        encoder,
        cache,
        members=tuple(dict.fromkeys(members or MEMBERS)),
        shares=shares or (0.3, 0.4, 0.5),
        strengths=strengths or (0.001, 0.003, 0.01),
        window=window,
        missed=missed,
        inner_folds=inner_folds,
        seed=seed,
    )
