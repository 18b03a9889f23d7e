"""The trained part of every detector: vectors of units in, logits of faulty and of each type out, for steps and run.

Vectors of one unit are joined first (`trajaudit.detectors.joining`), then each unit is scored, then the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from trajaudit.detectors.aggregation import AGGREGATIONS, attended, highest, noisy_or
from trajaudit.detectors.backbone import Backbone
from trajaudit.detectors.batches import Batch
from trajaudit.detectors.joining import Join


class Output(NamedTuple):
    """What a network says of R runs with U units, in H heads: faulty and the types.

    ``run`` [R, H] and ``units`` [R, U, H] are logits; ``exists`` [R, U] says which units have a window; ``relations``
    [R, U, 3] are log-probabilities, where the encoder has them; ``weights`` [R, U] is what attention gave each unit.
    """

    run: Tensor
    units: Tensor
    exists: Tensor
    relations: Tensor | None
    weights: Tensor | None = None


class Standardised(nn.Module):
    """Centres and scales each number of a vector by what the training units showed, once, before training.

    Vectors of one encoder differ far less than they are long, so heads on raw ones learn slowly or not at all.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))

    def learn(self, vectors: Tensor) -> None:
        """Take mean and standard deviation of [n, width]."""
        self.mean.copy_(vectors.mean(0))
        self.scale.copy_(vectors.std(0, correction=0).clamp(min=1e-6))

    def forward(self, vectors: Tensor) -> Tensor:
        return (vectors - self.mean) / self.scale


class StepHeads(nn.Module):
    """Scores each unit, and the run from its units.

    Args:
        width: of the vectors from the backbone. heads: faulty and the types. base: expected share of faulty units, at
            which the heads start, so that noisy-or over many steps does not start at certainty.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        aggregation: str,
        pool: str,
        relations: bool,
        dropout: float,
        base: float = 0.05,
    ) -> None:
        super().__init__()
        if aggregation not in AGGREGATIONS:
            raise ValueError(f"aggregation: expected one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.aggregation, self.join = aggregation, Join(width, pool, relations)
        self.norm = Standardised(self.join.hidden)
        hidden = min(self.join.hidden, 128)
        self.body = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout))
        self.out = nn.Linear(hidden, heads)
        self.relevance = nn.Linear(hidden, 1) if aggregation == "attention" else None
        nn.init.constant_(self.out.bias, float(torch.logit(torch.tensor(base))))

    def forward(self, vectors: Tensor, batch: Batch) -> Output:
        joined = self.join(vectors, batch)
        features = self.norm(joined.vectors)
        if joined.relations is not None:
            features = torch.cat([features, joined.relations], dim=-1)
        hidden = self.body(features)
        units, mask = self.out(hidden), joined.exists[:, None]
        by_head = units.transpose(1, 2)
        if self.relevance is not None:
            relevance = self.relevance(hidden)[..., 0]
            run = attended(by_head, relevance[:, None].expand_as(by_head), mask)
            weights = relevance.masked_fill(~joined.exists, float("-inf")).softmax(-1)
            return Output(run, units, joined.exists, joined.relations, weights)
        run = (highest if self.aggregation == "max" else noisy_or)(by_head, mask)
        return Output(run, units, joined.exists, joined.relations)


class RunHeads(nn.Module):
    """Scores each step from the vector at its marker, and the run from its own vector and its worst step.

    The two logits of the run are added: what the whole says (a check that is nowhere), and what a step shows.
    """

    def __init__(self, width: int, heads: int, *, dropout: float, base: float = 0.05) -> None:
        super().__init__()
        self.join, hidden = Join(width, "mean", False), min(width, 128)
        self.norm = Standardised(width)
        self.run = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, heads))
        out = nn.Linear(hidden, heads)
        nn.init.constant_(out.bias, float(torch.logit(torch.tensor(base))))
        self.step = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout), out)

    def forward(self, vectors: Tensor, batch: Batch) -> Output:
        joined = self.join(vectors, batch)
        features = self.norm(joined.vectors)
        row = torch.arange(len(batch.steps), device=vectors.device)
        exists = joined.exists.clone()
        exists[row, batch.steps] = False  # the run's own unit is no step
        steps = self.step(features)
        run = self.run(features[row, batch.steps]) + highest(steps.transpose(1, 2), exists[:, None])
        return Output(run, steps, exists, None)


class RelationRule(nn.Module):
    """Reads the relations as they are, with nothing to train: the zero-shot detector.

    A unit's logit of faulty is that of being contradicted, or of not being entailed. By Trajel's section 4.2, a
    referential fault should show as a contradiction and a logical one as neutral; no relation speaks of other types.
    """

    def __init__(self, width: int, types: tuple[str, ...], signal: str) -> None:
        super().__init__()
        self.types, self.signal, self.join = types, signal, Join(width, "mean", True)

    def forward(self, vectors: Tensor, batch: Batch) -> Output:
        joined = self.join(vectors, batch)
        if joined.relations is None:
            raise ValueError("a rule over relations needs an encoder that tells them")
        entailed, neutral, contradicted = torch.logit(joined.relations.exp(), eps=1e-6).unbind(-1)
        faulty = contradicted if self.signal == "contradiction" else -entailed
        shows = {"referential": contradicted, "logical": neutral}
        silent = torch.full_like(faulty, -20.0)
        units = torch.stack([faulty, *(shows.get(name, silent) for name in self.types)], dim=-1)
        run = highest(units.transpose(1, 2), joined.exists[:, None])
        return Output(run, units, joined.exists, joined.relations)


class Network(nn.Module):
    """A backbone (none where vectors were encoded before) and the heads on top."""

    def __init__(self, backbone: Backbone | None, heads: nn.Module) -> None:
        super().__init__()
        self.backbone, self.heads = backbone, heads

    def forward(self, batch: Batch) -> Output:
        out: Output = self.heads(self._vectors(batch), batch)
        return out

    @torch.no_grad()
    def standardise(self, batches: Iterable[Batch]) -> None:
        """Let the heads learn the scale of the vectors that they will be given."""
        norm = getattr(self.heads, "norm", None)
        if not isinstance(norm, Standardised):
            return
        join: Join = self.heads.join  # type: ignore[assignment]
        joined = (join(self._vectors(batch), batch) for batch in batches)
        norm.learn(torch.cat([units.vectors[units.exists] for units in joined]))

    def _vectors(self, batch: Batch) -> Tensor:
        if batch.vectors is not None:
            return batch.vectors
        if self.backbone is None:
            raise ValueError("a batch of tokens needs a backbone")
        vectors: Tensor = self.backbone(batch)
        return vectors
