"""From steps to the run: how the probability that something is wrong follows from that of each step.

All three work on logits, [..., steps], with a mask of the steps that exist. *max* is as suspicious as the worst step;
*noisy_or* lets many slightly suspicious steps add up, which punishes long runs unless steps start out unsuspicious;
*attention* weighs steps by learned relevance and lets none of them decide alone (additive attention pooling, so that
each step's part in the sum is known).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

AGGREGATIONS = ("max", "noisy_or", "attention")


def highest(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the largest logit of the steps that exist.

    >>> highest(torch.tensor([[1.0, 3.0, 9.0]]), torch.tensor([[True, True, False]]))
    tensor([3.])
    """
    return logits.masked_fill(~mask, float("-inf")).amax(-1)


def noisy_or(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the logit of 1 - prod(1 - p) over the steps that exist.

    >>> p = torch.sigmoid(noisy_or(torch.logit(torch.tensor([[0.5, 0.2, 0.9]])), torch.tensor([[True, True, False]])))
    >>> round(p.item(), 4)
    0.6
    """
    none = (functional.logsigmoid(-logits) * mask).sum(-1).clamp(max=-1e-6)  # log of "no step is faulty"
    return torch.log(-torch.expm1(none)) - none


def attended(logits: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of the logits, weighted by the softmax of ``relevance`` over the steps that exist."""
    weights = relevance.masked_fill(~mask, float("-inf")).softmax(-1)
    return (weights * logits.masked_fill(~mask, 0.0)).sum(-1)
