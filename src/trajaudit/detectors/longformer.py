"""Paradigm 3 of Trajel's section 4.2: the whole run at once, so that a skipped check or a change of agent can be seen.

An encoder that reads enough by itself (Longformer, ModernBERT) is taken as it is; a short BERT is converted, see
`trajaudit.detectors.long_attention`. The first token and a marker before each step attend to everything and are
attended to by everything; each step is judged by its marker and tokens,
the run by its first token and its worst step, in one pass.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from torch import nn

from trajaudit.detectors.encoders import Encoder, Loaded
from trajaudit.detectors.learned import Learned, called
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.long_attention import longformer_of
from trajaudit.detectors.network import RunHeads
from trajaudit.detectors.recipes import Values, WholeRun
from trajaudit.detectors.training import Training
from trajaudit.taxonomy import Taxonomy

if TYPE_CHECKING:
    from transformers import BertModel


def longformer(
    *,
    encoder: Encoder,
    training: Training,
    taxonomy: Taxonomy,
    cache: Path | None,
    logs: Logs | None = None,
    seed: int = 0,
    window: int = 4096,
    attention: int = 128,
    values: Values = "marked",
    dropout: float = 0.1,
) -> Learned:
    """Return the long-context detector, not fitted.

    Args:
        window: tokens of a run; a longer one loses the middle of its longest parts.
        attention: tokens that each token attends to, where a short encoder is converted.

    Raises:
        ValueError: naming the argument.
    """
    if window < 64 or window % attention:
        raise ValueError(f"window: expected at least 64 tokens, and a multiple of {attention}, got {window}")
    if encoder.relation:
        raise ValueError("encoder.relation: the long-context detector reads no relations; give a plain encoder")
    long = encoder.window < window

    def load() -> Loaded:
        loaded = encoder.load()
        if not long:
            return loaded
        return replace(loaded, model=longformer_of(cast("BertModel", loaded.model), window, attention))

    def heads(width: int, relations: bool) -> nn.Module:
        return RunHeads(width, 1 + len(taxonomy.types), dropout=dropout)

    return Learned(
        called("longformer", training, values),
        WholeRun(window, values=values),
        load,
        {**encoder.identity(), "converted": {"window": window, "attention": attention} if long else None},
        heads,
        {"dropout": dropout},
        taxonomy=taxonomy,
        training=training,
        cache=cache,
        logs=logs,
        seed=seed,
    )
