"""What of a detector is trained, on which loss, how long and on what: settings that all paradigms share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from trajaudit._fields import Json

_HARDWARE = ("accelerator", "devices", "strategy")
_BY_CONTENT = ("start",)


@dataclass(frozen=True)
class Training:
    """Settings of training, checked before anything is loaded.

    Args:
        tuning: *frozen*: heads alone, on vectors that are encoded once and kept; *top*: also the encoder's layers above
            ``frozen_layers``; *all*: everything; *biases* and *lora* (of rank ``rank``): a sliver of every layer, small
            enough to ship (`trajaudit.detectors.tuning`).
        loss: *weighted* makes both classes count alike, *focal* turns to what is still wrong, *plain* does neither.
        missed: share of faulty runs whose label says clean, where that is known of the labels.
        lr, encoder_lr: of the heads and of the encoder.
        epochs: most epochs. patience: epochs without a smaller loss on held-out runs before stopping early, null for
            never. held_out: share of the training runs that early stopping looks at, by cluster of groups.
        batch_tokens: most tokens of a batch, which bounds memory; a longer run is thinned out in training.
        batch_runs: most runs of a batch. accumulate: batches to an optimiser step. clip: norm of the gradient.
        precision, accelerator, devices, strategy: Lightning's own. Whatever the devices, verdicts are given on one.
        start: folder of a finished training whose weights are started from (`trajaudit.detectors.warm_start`); null for
            the encoder's own and new heads.
    """

    tuning: Literal["frozen", "top", "all", "biases", "lora"] = "frozen"
    frozen_layers: int = 4
    loss: Literal["plain", "weighted", "focal"] = "weighted"
    missed: float = 0.0
    lr: float = 1e-3
    encoder_lr: float = 3e-5
    epochs: int = 20
    patience: int | None = 4
    held_out: float = 0.15
    batch_tokens: int = 8192
    batch_runs: int = 16
    accumulate: int = 1
    clip: float | None = 1.0
    precision: Literal["32-true", "bf16-mixed", "16-mixed", "bf16-true"] = "32-true"
    accelerator: str = "cpu"
    devices: int = 1
    strategy: str = "auto"
    rank: int = 8
    start: str | None = None

    def __post_init__(self) -> None:
        for key in ("epochs", "batch_tokens", "batch_runs", "accumulate", "devices", "rank"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key}: expected at least 1, got {getattr(self, key)}")
        for key in ("missed", "held_out"):
            if not 0 <= getattr(self, key) < 1:
                raise ValueError(f"{key}: expected a share in [0, 1), got {getattr(self, key)}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience: expected at least 1 epoch, or null, got {self.patience}")

    @property
    def trained_from(self) -> int | None:
        """How many layers stay as they are: null for the whole encoder, -1 for none."""
        return {"top": self.frozen_layers, "all": -1}.get(self.tuning)

    def spec(self) -> dict[str, Json]:
        """Return what could change a verdict; where it runs is not, and a start is known by its weights instead."""
        unused = (*_HARDWARE, *_BY_CONTENT, *(() if self.tuning == "lora" else ("rank",)))
        return {key: value for key, value in asdict(self).items() if key not in unused}
