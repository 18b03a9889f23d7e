"""A detector made of a recipe, an encoder and heads: what the three paradigms have in common.

What is trained is decided by `Training.tuning`; a rule has nothing to train, and is asked with the encoder as it is.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import datasets as hf
import numpy as np
import torch
from lightning_fabric.utilities import move_data_to_device
from torch import nn

from trajaudit._fields import Json, canonical
from trajaudit.auditor import spec_hash
from trajaudit.detectors.backbone import Backbone
from trajaudit.detectors.batches import Batch, Rows, loader
from trajaudit.detectors.encoded import tokens_of, vectors_of
from trajaudit.detectors.encoders import RELATIONS, Loaded
from trajaudit.detectors.encoding import Recipe
from trajaudit.detectors.fitting import fit, take
from trajaudit.detectors.folds import stratified
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.loss import class_weights
from trajaudit.detectors.module import DetectorModule
from trajaudit.detectors.near_duplicates import clusters
from trajaudit.detectors.network import Network, Output
from trajaudit.detectors.recipes import Values
from trajaudit.detectors.training import Training
from trajaudit.detectors.tuning import open_sliver
from trajaudit.detectors.warm_start import begin, leave_spec, start_from
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Unseen, Usage, Verdict

VERSION = 1
_SHOWN = 32
"""Batches that the scale of vectors is taken from, where each costs a pass of the encoder."""


class Learned:
    """A trained detector.

    Args:
        name: of the auditor. recipe: from runs to windows.
        load: of the encoder. identity: everything that could change a vector of it.
        heads: from the backbone's width, and whether it tells relations, to the heads. heads_spec: what identifies
            them.
        cache: folder of the token and vector caches; null keeps none, for runs that are asked about once.
        rule: the heads have nothing to train.
    """

    def __init__(
        self,
        name: str,
        recipe: Recipe,
        load: Callable[[], Loaded],
        identity: Json,
        heads: Callable[[int, bool], nn.Module],
        heads_spec: Json,
        *,
        taxonomy: Taxonomy,
        training: Training,
        cache: Path | None,
        logs: Logs | None = None,
        seed: int = 0,
        rule: bool = False,
    ) -> None:
        self.name, self.recipe, self.types = name, recipe, taxonomy.types
        self._load, self._identity, self._heads = load, identity, heads
        self._training, self._cache, self._logs = training, cache, logs or Logs()
        self._seed, self._rule = seed, rule
        self.spec: dict[str, Json] = {
            "detector": name,
            "version": VERSION,
            "recipe": recipe.spec,
            "encoder": identity,
            "heads": heads_spec,
            "types": list(self.types),
            "training": None if rule else training.spec(),
            "seed": seed,
        }
        self._start = None if training.start is None or rule else start_from(training.start, self.spec)
        if self._start is not None:
            self.spec["start"] = self._start.identity
        self._loaded: Loaded | None = None
        self._module: DetectorModule | None = None
        self.padding: float | None = None

    @property
    def cached(self) -> bool:
        """Whether the encoder stays as it is, so that its vectors are kept."""
        return self._rule or self._training.tuning == "frozen"

    def fit(self, runs: Sequence[Trajectory], folder: Path) -> None:
        """Learn from labelled runs; see `trajaudit.detectors.detector.Detector`."""
        if {run.label.faulty for run in runs if run.label is not None} != {True, False}:
            raise ValueError(f"{self.name}: expected labelled runs of both classes to train on")
        watched = self._held_out(runs)
        train = self._rows([run for run, out in zip(runs, watched, strict=True) if not out], training=True)
        held_out = self._rows([run for run, out in zip(runs, watched, strict=True) if out]) if watched.any() else None
        torch.manual_seed(self._seed)
        settings = self._training
        weights = class_weights([train[range(len(train))].targets]) if settings.loss == "weighted" else None
        self._module = DetectorModule(self._network(), weights, settings, self._seed)
        if not self._rule:
            self._module.to(self._device)
            shown = loader(train, settings.batch_tokens, settings.batch_runs, shuffle=True, seed=self._seed)
            some = islice(shown, None if self.cached else _SHOWN)
            if self._start is None:
                self._module.network.standardise(move_data_to_device(batch, self._device) for batch in some)
            else:
                begin(self._module, self._start, self.types)
            fit(self._module, train, held_out, settings, folder, self._fit_identity(runs), self._logs)
            leave_spec(folder, self.spec)
        self._settle(self._module)

    def weights(self) -> dict[str, torch.Tensor]:
        """Return what an encoder lacks to be this detector: what was trained, and the scale of its vectors.

        Raises:
            ValueError: nothing was fitted.
        """
        if self._module is None:
            raise ValueError(f"{self.name}: asked for its weights before it was fitted")
        return self._module.own(self._module.state_dict())

    def load(self, weights: Mapping[str, torch.Tensor], where: str) -> None:
        """Be the detector that ``weights`` came from; ``where`` they lie is for errors.

        Raises:
            ValueError: a tensor is missing, unknown or of another shape.
        """
        module = DetectorModule(self._network(), None, self._training, self._seed)
        take(module, weights, where)
        self._settle(module)
        self._module = module

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one uncalibrated verdict a run, in order."""
        if self._module is None:
            raise ValueError(f"{self.name}: asked before it was fitted")
        rows, spec = self._rows(runs), spec_hash(self.spec)
        self._module.to(self._device)
        answers: list[Verdict | None] = [None] * len(runs)
        for batch in loader(rows, self._training.batch_tokens, self._training.batch_runs):
            start = time.perf_counter()
            with torch.inference_mode():
                there = self._module(move_data_to_device(batch, self._device))
                out: Output = move_data_to_device(there, torch.device("cpu"))
            seconds = (time.perf_counter() - start) / len(batch.steps)
            for place, row in enumerate(batch.rows.tolist()):
                answers[row] = self._verdict(runs[row], rows.encoded[row], out, batch, place, spec, seconds)
        return [answer for answer in answers if answer is not None]

    def _verdict(
        self, run: Trajectory, row: Any, out: Output, batch: Batch, place: int, spec: str, seconds: float
    ) -> Verdict:
        probabilities = torch.sigmoid(out.run[place].double()).tolist()
        steps = step_scores(out, int(batch.steps[place]), place)
        score, faulty = probabilities[0], probabilities[0] > 0.5
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec,
            faulty=faulty,
            score=score,
            step=int(np.argmax(steps)),
            step_scores=tuple(steps),
            types=self._named(probabilities[1:]),
            confidence=score if faulty else 1 - score,
            evidence=_relations(out, int(batch.steps[place]), place),
            usage=Usage(calls=1, prompt_tokens=row["tokens"]),
            latency_s=seconds + row.get("seconds", 0.0),
            unseen=Unseen(row["unseen"], tuple(row["unseen_steps"])) if row["unseen"] else None,
        )

    def _named(self, probabilities: Sequence[float]) -> tuple[str, ...]:
        """Return the types above a half, most probable first, or the most probable where none is."""
        ranked = sorted(range(len(self.types)), key=lambda i: -probabilities[i])
        named = [i for i in ranked if probabilities[i] > 0.5]
        return tuple(self.types[i] for i in named or ranked[:1])

    def _settle(self, module: DetectorModule) -> None:
        """Make a module ready for verdicts, its encoder in int8 where that was asked for."""
        if self._int8 and module.network.backbone is not None:
            module.network.backbone.quantise()
        module.eval()

    def _network(self) -> Network:
        trained_from = None if self._rule else self._training.trained_from
        backbone = Backbone(self._encoder, trained_from, self._training.batch_tokens)
        if not self.cached:
            open_sliver(backbone.model, self._training)
        heads = self._heads(backbone.width, backbone.relations is not None)
        return Network(None if self.cached else backbone, heads)

    @property
    def _device(self) -> torch.device:
        """Where verdicts are given: the first GPU where training was told to use one that is there, else the CPU."""
        wanted = self._training.accelerator in ("gpu", "cuda", "auto") and not self._int8
        return torch.device("cuda" if wanted and torch.cuda.is_available() else "cpu")

    @property
    def _int8(self) -> bool:
        return bool(self._identity.get("precision") == "int8")

    @property
    def _encoder(self) -> Loaded:
        if self._loaded is None or not self.cached:  # a fine-tuned encoder starts from its own weights again
            self._loaded = self._fresh()
        return self._loaded

    def _fresh(self) -> Loaded:
        return self._load().untrained() if self.cached else self._load()

    def _rows(self, runs: Sequence[Trajectory], training: bool = False) -> Rows:
        if self._loaded is None:
            self._loaded = self._fresh()
        tokens = tokens_of(runs, self.recipe, self._loaded.tokenizer, self._identity, self._cache)
        table: hf.Dataset = tokens
        if self.cached:
            backbone = Backbone(self._loaded, budget=self._training.batch_tokens).to(self._device)
            table = vectors_of(runs, tokens, backbone, self.recipe, self._identity, self._cache)
            self.padding = backbone.padding if backbone.padded else self.padding
        budget = self._training.batch_tokens if training and not self.cached else None
        return Rows(table, [run.label for run in runs], self.types, budget, self._seed)

    def _held_out(self, runs: Sequence[Trajectory]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which runs early stopping looks at: one fold by clusters of groups; none where there are too few."""
        share, codes = self._training.held_out, clusters(runs)
        parts = round(1 / share) if share else 0
        if not 2 <= parts <= len(np.unique(codes)):
            return np.zeros(len(runs), dtype=np.bool_)
        out = stratified(runs, codes, parts, self._seed) == 0
        kinds = {run.label.faulty for run, held in zip(runs, out, strict=True) if run.label is not None and not held}
        return out if kinds == {True, False} else np.zeros(len(runs), dtype=np.bool_)

    def _fit_identity(self, runs: Sequence[Trajectory]) -> str:
        """Return a hash over the spec and the training runs with their labels and groups."""
        items = [[run.content_hash, run.group, run.label.to_json() if run.label else None] for run in runs]
        return hashlib.sha256(canonical({"spec": self.spec, "runs": items})).hexdigest()


def called(paradigm: str, training: Training, values: Values, relations: bool = False) -> str:
    """Return the name of a detector: its paradigm, and in what it departs from heads on vectors of marked values."""
    tuned = "" if training.tuning == "frozen" else f"_{training.tuning}"
    return paradigm + ("_relations" if relations else "") + ("_plain" if values == "plain" else "") + tuned


def step_scores(out: Output, steps: int, place: int) -> list[float]:
    """Return the probability of a fault at each step; the final answer's own unit counts for the last step.

    A step without a window has 0. Where the run's heads weigh steps by attention, a step's probability is scaled by its
    weight relative to the largest, so that the step named is the one that moved the verdict.
    """
    found = torch.sigmoid(out.units[place, :, 0].double())
    if out.weights is not None:
        found = found * (out.weights[place] / out.weights[place].max()).double()
    scores = torch.where(out.exists[place], found, torch.zeros_like(found)).tolist()
    return [*scores[: steps - 1], max(scores[steps - 1 : steps + 1])]


def _relations(out: Output, steps: int, place: int) -> tuple[Evidence, ...]:
    """Return, for the most suspicious unit, how far it is contradicted, and how far merely not entailed."""
    if out.relations is None:
        return ()
    unit = int(out.units[place, :, 0].masked_fill(~out.exists[place], float("-inf")).argmax())
    shares = zip(RELATIONS, out.relations[place, unit].exp().tolist(), strict=True)
    shown = ", ".join(f"{name} {share:.3f}" for name, share in shares)
    return (Evidence(unit, note=shown) if unit < steps else Evidence(None, note=f"final answer: {shown}"),)
