"""The support desk as a dataset: what the configuration names, with its procedure and taxonomy."""

from __future__ import annotations

from typing import Literal

from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.support_desk.generator import generate


def support_desk(
    *,
    preset: Literal["paper", "varied"] = "paper",
    n: int = 400,
    seed: int = 7,
    wording: Literal["a", "b"] = "a",
    cascades: float = 0.0,
    procedure: str = "support_desk",
) -> Dataset:
    """Return a generated set; the arguments are those of ``generate``, checked at once, and the procedure's name.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """
    generate(preset, n, seed, wording, cascades)
    return Dataset(
        "support_desk",
        lambda: generate(preset, n, seed, wording, cascades),
        SUPPORT_DESK,
        Procedure.named(procedure),
        Receipt(read=n, kept=n, notes=[f"generated: preset {preset}, seed {seed}, wording {wording}"]),
        rules="support_desk",
        size=n,
    )
