"""An encoder in int8, for verdicts on a CPU: linear layers with 8-bit weights, scales of inputs found as they come.

Dynamic quantisation needs no calibration set, and embeddings, attention and norms stay as they are. Two things follow.
The scale of an input is one for all tokens that are computed together, so a vector depends a little on what shared its
chunk: verdicts repeat for the same runs in the same batches, not to the last digit for a run alone. And it is an
approximation that a detector may not bear: `python -m benchmarks inference` gives speed and AUC of both in one run.
"""

from __future__ import annotations

import warnings
from typing import TypeVar

import torch
from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def in_int8(model: Model) -> Model:
    """Return a copy of a model, on the CPU and for inference only, whose linear layers compute in int8."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.ao moves to a package of its own; the function is still there
        # A scale for each row of the weights: one for all of them moves MiniLM's vectors more than twice as far.
        each_row = {nn.Linear: torch.ao.quantization.per_channel_dynamic_qconfig}
        quantised: Model = torch.ao.quantization.quantize_dynamic(model.cpu().eval(), each_row)
    return quantised
