"""The industrial plant as a dataset: what the configuration names, with its procedure and taxonomy."""

from __future__ import annotations

from typing import Literal

from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops.generator import generate


def asset_ops(
    *,
    preset: Literal["single", "varied", "mixture"] = "varied",
    n: int = 400,
    seed: int = 7,
    wording: Literal["a", "b"] = "a",
    procedure: str = "asset_ops",
) -> Dataset:
    """Return a generated set; the arguments are those of ``generate``, checked at once, and the procedure's name.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """
    generate(preset, n, seed, wording)
    return Dataset(
        "asset_ops",
        lambda: generate(preset, n, seed, wording),
        TRAJEL,
        Procedure.named(procedure),
        Receipt(read=n, kept=n, notes=[f"generated: preset {preset}, seed {seed}, wording {wording}"]),
        rules="asset_ops",
        size=n,
    )
