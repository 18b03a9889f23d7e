"""Paradigm 2 of Trajel's section 4.2: does what came before entail what the step says and does?

The final answer is a hypothesis of its own. Contradiction and neutral are kept apart in what is learnt and in the
evidence of each verdict, since a referential fault should show as the one and a logical one as the other. *zero_shot*
reads the encoder's relation head as it is; *fine_tuned* trains heads on its vectors and relations, and goes without
relations where the encoder has no such head.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from torch import nn

from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.learned import Learned, called
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.network import RelationRule, StepHeads
from trajaudit.detectors.recipes import PremiseWindows, Values
from trajaudit.detectors.training import Training
from trajaudit.taxonomy import Taxonomy


def nli(
    *,
    encoder: Encoder,
    training: Training,
    taxonomy: Taxonomy,
    cache: Path | None,
    logs: Logs | None = None,
    seed: int = 0,
    mode: Literal["zero_shot", "fine_tuned"] = "fine_tuned",
    signal: Literal["contradiction", "not_entailed"] = "contradiction",
    aggregation: Literal["max", "noisy_or", "attention"] = "max",
    window: int = 192,
    overlap: int = 32,
    most: int | None = 8,
    long_input: Literal["windows", "retrieval"] = "retrieval",
    values: Values = "marked",
    pool: Literal["mean", "max", "attention"] = "max",
    dropout: float = 0.1,
) -> Learned:
    """Return the entailment detector, not fitted.

    Args:
        signal: with *zero_shot*, the relation that is taken for a fault.
        window, overlap, most, long_input: of the premise; see `trajaudit.detectors.recipes.PremiseWindows`.
        pool: how the vectors of a premise's windows are joined.

    Raises:
        ValueError: naming the argument.
    """
    if not 16 <= window <= encoder.window:
        raise ValueError(f"window: expected 16 to {encoder.window} tokens, what the encoder reads, got {window}")
    if not 0 <= overlap < window // 4:
        raise ValueError(f"overlap: expected fewer than a quarter of {window} tokens, got {overlap}")
    if mode == "zero_shot" and not encoder.relation:
        raise ValueError(
            "mode: zero_shot needs an encoder that knows entailment: encoder=minilm_entailment, "
            "encoder=nli_deberta_v3_base, or one trained by `trajaudit train dataset=infotabs`, given as "
            "encoder.weights=FOLDER encoder.relation=true"
        )
    rule = mode == "zero_shot"
    spec = {"signal": signal} if rule else {"aggregation": aggregation, "pool": pool, "dropout": dropout}

    def heads(width: int, relations: bool) -> nn.Module:
        if rule:
            return RelationRule(width, taxonomy.types, signal)
        count = 1 + len(taxonomy.types)
        return StepHeads(width, count, aggregation=aggregation, pool=pool, relations=relations, dropout=dropout)

    return Learned(
        _zero_shot(signal) if rule else called("nli", training, values, encoder.relation),
        PremiseWindows(window, overlap, most, long_input, values),
        encoder.load,
        encoder.identity(),
        heads,
        {"mode": mode, **spec},
        taxonomy=taxonomy,
        training=training,
        cache=cache,
        logs=logs,
        seed=seed,
        rule=rule,
    )


def _zero_shot(signal: str) -> str:
    """Return what the untrained detector is called: its two signals are two auditors of one table."""
    return "nli_zero_shot" if signal == "contradiction" else f"nli_zero_shot_{signal}"
