"""From the vectors of windows to the vectors of units: what several windows say of one step becomes one vector.

The relation numbers of an entailment model are joined by their meaning, not by the mean: a claim is entailed as soon as
one piece of the premise entails it, and contradicted as soon as one contradicts it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from trajaudit.detectors.batches import Batch
from trajaudit.detectors.encoders import RELATIONS

POOLS = ("mean", "max", "attention")


class Joined(NamedTuple):
    """Vectors of the units, [R, U, D], which of them exist, and their relations."""

    vectors: Tensor
    exists: Tensor
    relations: Tensor | None


class Join(nn.Module):
    """Joins the vectors of each unit: their mean, their elementwise maximum, or a learned weighting."""

    def __init__(self, width: int, pool: str, relations: bool) -> None:
        super().__init__()
        if pool not in POOLS:
            raise ValueError(f"pool: expected one of {', '.join(POOLS)}, got {pool!r}")
        self.pool, self.relations = pool, relations
        self.hidden = width - (len(RELATIONS) if relations else 0)
        self.score = nn.Linear(self.hidden, 1) if pool == "attention" else None

    def forward(self, vectors: Tensor, batch: Batch) -> Joined:
        runs, units = len(batch.steps), int(batch.steps.max()) + 1
        slot, count = batch.run * units + batch.unit, runs * units
        exists = torch.zeros(count, dtype=torch.bool, device=vectors.device).index_fill(0, slot, True)
        relations = _any_window(vectors[:, self.hidden :], slot, count) if self.relations else None
        joined = self._pooled(vectors[:, : self.hidden], slot, count)
        return Joined(
            joined.reshape(runs, units, -1),
            exists.reshape(runs, units),
            None if relations is None else relations.reshape(runs, units, -1),
        )

    def _pooled(self, vectors: Tensor, slot: Tensor, count: int) -> Tensor:
        if self.pool == "max":
            return _reduced(vectors, slot, count, "amax")
        if self.score is None:
            return _reduced(vectors, slot, count, "mean")
        logits = self.score(vectors)
        weight = torch.exp(logits - _reduced(logits.detach(), slot, count, "amax")[slot])
        total = _reduced(weight, slot, count, "sum")[slot]
        return _reduced(vectors * weight / total, slot, count, "sum")


def _reduced(values: Tensor, slot: Tensor, count: int, how: str) -> Tensor:
    out = torch.zeros(count, values.shape[-1], dtype=values.dtype, device=values.device)
    index = slot[:, None].expand_as(values)
    return out.scatter_reduce(0, index, values, how, include_self=False)


def _any_window(log_probabilities: Tensor, slot: Tensor, count: int) -> Tensor:
    """Return the relations of each unit: entailed or contradicted where any window says so, neutral where all do."""
    best = _reduced(log_probabilities, slot, count, "amax")
    neutral = _reduced(log_probabilities[:, 1:2], slot, count, "amin")
    return torch.cat([best[:, :1], neutral, best[:, 2:]], dim=-1).log_softmax(-1)
