"""Training a sliver of an encoder: so few numbers that a detector ships as a file of a few hundred kilobytes.

*biases* trains the biases and the layer norms (BitFit, Ben Zaken et al. 2022), one number in a thousand. *lora* adds to
query and value of every layer a product of two thin matrices (Hu et al. 2022, section 4.2, which finds these two the
best place for a given size) that starts at zero, so the first step is the encoder's own. Both keep all other weights as
they are, want a larger learning rate than whole layers do, and cost nearly as much time as training everything.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from trajaudit.detectors.training import Training

SCALE = 2.0
"""What the product is multiplied by (alpha / r of the paper); fixed, so that a rate serves every rank."""
QUERY_VALUE = ("query", "value", "query_global", "value_global", "query_proj", "value_proj")
"""What BERT, Longformer and DeBERTa call them."""


class LowRank(nn.Module):
    """A linear layer that stays as it is, plus a trained product of rank ``rank``."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.empty(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.base(x) + SCALE * (x @ self.down.T) @ self.up.T
        return out

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Return one linear layer that does the same."""
        self.base.weight += SCALE * self.up @ self.down
        return self.base


def open_sliver(model: nn.Module, settings: Training) -> None:
    """Let the part of a frozen encoder be trained that ``settings.tuning`` names, where that is less than whole layers.

    Raises:
        ValueError: *lora* finds no query and value under the names that it knows.
    """
    if settings.tuning == "biases":
        for name, part in model.named_parameters():
            part.requires_grad_(name.endswith(".bias") or "norm." in name.lower())
    if settings.tuning == "lora":
        found = [name for name, part in model.named_modules() if _is_query_or_value(name, part)]
        if not found:
            raise ValueError(f"tuning: lora knows {', '.join(QUERY_VALUE)}, and this encoder has none of them")
        for name in found:
            parent, _, own = name.rpartition(".")
            setattr(model.get_submodule(parent), own, LowRank(model.get_submodule(name), settings.rank))  # type: ignore[arg-type]


def merge(model: nn.Module) -> None:
    """Fold every low-rank product into the layer that it stands beside: the model is then of the encoder's own form."""
    for name, part in list(model.named_modules()):
        if isinstance(part, LowRank):
            parent, _, own = name.rpartition(".")
            setattr(model.get_submodule(parent), own, part.merged())


def _is_query_or_value(name: str, part: nn.Module) -> bool:
    return isinstance(part, nn.Linear) and name.rpartition(".")[2] in QUERY_VALUE
