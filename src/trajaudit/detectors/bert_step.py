"""Paradigm 1 of Trajel's section 4.2: a classifier of single steps, and the run from its steps.

It sees one step at a time and nothing before it, so it can catch a value that contradicts the observation beside it,
and cannot know that an entity was never mentioned or a check was skipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from torch import nn

from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.learned import Learned, called
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.network import StepHeads
from trajaudit.detectors.recipes import StepWindows, Values
from trajaudit.detectors.training import Training
from trajaudit.taxonomy import Taxonomy


def bert_step(
    *,
    encoder: Encoder,
    training: Training,
    taxonomy: Taxonomy,
    cache: Path | None,
    logs: Logs | None = None,
    seed: int = 0,
    aggregation: Literal["max", "noisy_or", "attention"] = "max",
    window: int = 256,
    long_input: Literal["head_tail", "windows"] = "head_tail",
    values: Values = "marked",
    pool: Literal["mean", "max", "attention"] = "mean",
    dropout: float = 0.1,
) -> Learned:
    """Return the step classifier, not fitted.

    Args:
        aggregation: from steps to the run; see `trajaudit.detectors.aggregation`.
        window: tokens of a step's window; at most the encoder's.
        long_input: a longer step loses its middle, or is spread over windows joined by ``pool``.

    Raises:
        ValueError: naming the argument.
    """
    _fits(window, encoder)
    spec = {"aggregation": aggregation, "pool": pool, "dropout": dropout}

    def heads(width: int, relations: bool) -> nn.Module:
        count = 1 + len(taxonomy.types)
        return StepHeads(width, count, aggregation=aggregation, pool=pool, relations=relations, dropout=dropout)

    return Learned(
        called("bert_step", training, values),
        StepWindows(window, long_input, values=values),
        encoder.load,
        encoder.identity(),
        heads,
        spec,
        taxonomy=taxonomy,
        training=training,
        cache=cache,
        logs=logs,
        seed=seed,
    )


def _fits(window: int, encoder: Encoder) -> None:
    if not 16 <= window <= encoder.window:
        raise ValueError(f"window: expected 16 to {encoder.window} tokens, what the encoder reads, got {window}")
