"""From an adapter back to its detector: the encoder from where that lies, all else from the adapter's folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from trajaudit._fields import Json
from trajaudit.detectors.adapter_facts import check_same
from trajaudit.detectors.adapters import Adapter, encoder_of, read
from trajaudit.detectors.bert_step import bert_step
from trajaudit.detectors.calibration import Calibrated
from trajaudit.detectors.entailment import RelationModel
from trajaudit.detectors.learned import Learned
from trajaudit.detectors.longformer import longformer
from trajaudit.detectors.nli import nli
from trajaudit.detectors.training import Training
from trajaudit.detectors.tuning import merge
from trajaudit.taxonomy import TAXONOMIES
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DETECTORS: dict[str, Callable[..., Learned]] = {"bert_step": bert_step, "nli": nli, "longformer": longformer}
"""The detectors that can be kept as an adapter."""


@dataclass(frozen=True)
class Adapted:
    """A detector that was loaded, with its calibration and threshold."""

    detector: Learned
    calibrated: Calibrated

    def predict(self, runs: list[Trajectory]) -> list[Verdict]:
        """Return one calibrated and decided verdict a run, in order."""
        return [self.calibrated.verdict(verdict) for verdict in self.detector.predict(runs)]


def detector_of(adapter: Adapter, weights: str | None = None, cache: Path | None = None) -> Adapted:
    """Load an adapter's detector.

    Args:
        weights: where the encoder's weights lie, where that is elsewhere than at the training.
        cache: folder of the token and vector caches; null keeps none.

    Raises:
        ValueError: the adapter is no detector's, its encoder is another one, or the detector has changed since.
        RecordError: a file of the adapter is broken.
    """
    facts = adapter.facts
    if facts.kind != "detector" or facts.detector not in DETECTORS:
        raise ValueError(f"adapter: {adapter.name!r} holds a {facts.kind} ({facts.detector}), and no trained detector")
    detector = DETECTORS[facts.detector](
        encoder=encoder_of(adapter, weights),
        training=training_of(adapter),
        taxonomy=TAXONOMIES[str(facts.taxonomy)],
        cache=cache,
        **facts.options,
    )
    changed = "the detector has changed since; make the adapter again by its command, or use the version it names"
    check_same(facts.spec, detector.spec, f"{adapter.folder}: spec", changed)
    detector.load(tensors_of(adapter), str(adapter.folder))
    return Adapted(detector, calibrated_of(facts.calibration or {}))


def relation_model_of(adapter: Adapter, weights: str | None = None) -> RelationModel:
    """Load an adapter's relation model; arguments and errors as for `detector_of`."""
    facts = adapter.facts
    if facts.kind != "entailment":
        raise ValueError(f"adapter: {adapter.name!r} holds a {facts.kind}, and no model of entailment")
    encoder, where = encoder_of(adapter, weights), str(adapter.folder)
    return RelationModel(encoder, training_of(adapter), tensors_of(adapter), where, **facts.options)


def taught(name_or_folder: str, weights: str | None = None) -> PreTrainedModel:
    """Return the sequence classifier that an adapter's training made of its encoder, of the encoder's own form.

    Its logits are those of `trajaudit.detectors.encoders.RELATIONS`, in that order.
    """
    model: PreTrainedModel = relation_model_of(read(name_or_folder), weights).module.model
    merge(model.base_model)
    return model.eval()


def training_of(adapter: Adapter) -> Training:
    """Return the settings; they say which tensors there are. Where it runs is this machine's own."""
    return replace(Training(**(adapter.facts.training or {})), accelerator="auto", devices=1, strategy="auto")


def tensors_of(adapter: Adapter) -> dict[str, torch.Tensor]:
    """Return the tensors, in single precision."""
    return {name: torch.from_numpy(value).float() for name, value in adapter.tensors().items()}


def calibrated_of(obj: Json) -> Calibrated:
    """Return a calibration as `Calibrated.to_json` wrote it."""
    return Calibrated(**{**obj, "points": tuple((low, high) for low, high in obj.get("points", ()))})
