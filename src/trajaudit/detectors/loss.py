"""What a detector is trained to do: say of the run and of its steps whether a fault is there, and of which type.

Three choices move the numbers. *Class weights* make both classes count alike (faulty steps are few, faulty runs may be
many), without throwing a single row away as undersampling does. *Focal loss* (Lin et al. 2017) turns to what is still
wrong instead. And *missed* is the share of faulty runs whose label says clean, known of some silver labels: the loss is
then taken on the probability of the label, ``(1 - missed) p``, and not on that of the fault (forward correction,
Patrini et al. 2017), so that a confident "faulty" on a missed run is not punished as a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from trajaudit.detectors.targets import Targets

FOCUS = 2.0


@dataclass
class Weights:
    """The weight of a positive, for each head: of the run [1 + T] and of its units [1 + T]."""

    run: Tensor
    units: Tensor

    def to(self, device: torch.device) -> Weights:
        return Weights(self.run.to(device), self.units.to(device))


def class_weights(targets: Sequence[Targets], most: float = 20.0) -> Weights:
    """Return negatives over positives among known labels, for each head; 1 where there are no positives.

    Args:
        most: a rarer class than one in ``most`` is weighted no further, since its noise would be.
    """

    def ratio(values: Tensor, known: Tensor) -> Tensor:
        positive, all_known = (values * known).sum(0), known.sum(0)
        weight = (all_known - positive) / positive.clamp(min=1)
        return torch.where(positive > 0, weight.clamp(1 / most, most), torch.ones_like(weight))

    heads = targets[0].run.shape[-1]
    units = [(t.units.reshape(-1, heads), t.units_known.reshape(-1, heads)) for t in targets]
    return Weights(
        ratio(torch.cat([t.run for t in targets]), torch.cat([t.run_known for t in targets])),
        ratio(torch.cat([u for u, _ in units]), torch.cat([k for _, k in units])),
    )


def missed_positives(logits: Tensor, missed: float) -> Tensor:
    """Return the logit of ``(1 - missed) * sigmoid(logits)``: that of a label which misses this share of the faulty.

    >>> torch.sigmoid(missed_positives(torch.tensor([0.0, 30.0]), 0.5))
    tensor([0.2500, 0.5000])
    """
    if missed == 0:
        return logits
    # q / (1 - q) with q = (1 - m) / (1 + e^-s) is (1 - m) / (m + e^-s)
    return math.log1p(-missed) - torch.log(missed + torch.exp(-logits.clamp(min=-30)))


def per_run(
    run_logits: Tensor,
    unit_logits: Tensor,
    exists: Tensor,
    targets: Targets,
    weights: Weights | None,
    *,
    focal: bool = False,
    missed: float = 0.0,
) -> Tensor:
    """Return the loss of each run, [R]: the mean over its known heads, plus the mean over those of its units.

    Args:
        run_logits: [R, 1 + T]. unit_logits: [R, U, 1 + T]. exists: [R, U], units with a window.
    """
    labels = torch.cat([missed_positives(run_logits[:, :1], missed), run_logits[:, 1:]], dim=1)
    whole = _bce(labels, targets.run, None if weights is None else weights.run, focal)
    parts = _bce(unit_logits, targets.units, None if weights is None else weights.units, focal)
    known = targets.units_known * exists[..., None]
    return _mean(whole, targets.run_known, (1,)) + _mean(parts, known, (1, 2))


def _bce(logits: Tensor, target: Tensor, weight: Tensor | None, focal: bool) -> Tensor:
    loss = functional.binary_cross_entropy_with_logits(logits, target, pos_weight=weight, reduction="none")
    if not focal:
        return loss
    right = torch.sigmoid(torch.where(target > 0.5, logits, -logits))
    return loss * (1 - right) ** FOCUS


def _mean(loss: Tensor, known: Tensor, over: tuple[int, ...]) -> Tensor:
    return (loss * known).sum(over) / known.sum(over).clamp(min=1)
