"""What every LightningModule here has in common: plain checkpoints, losses by item, and draws that repeat.

- A checkpoint holds only what is trained, as tensors and plain types, so it is small and loads with ``weights_only``.
- The loss of an epoch is the mean over its items, from per-item sums, never a mean of batch means.
- The random state of each batch follows from seed, epoch and its number, so a resumed run draws the dropout that the
  uninterrupted one drew, whatever the loaders and loggers have drawn in between.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from trajaudit.detectors.training import Training

WEIGHT_DECAY = 0.01
WARM_UP = 0.1
"""Learning rates rise over this share of all optimiser steps and then fall to zero, linearly."""


class Trained(pl.LightningModule):
    """A module that is told the loss of each item; ``kept`` are prefixes of what a checkpoint always holds."""

    kept: tuple[str, ...] = ()

    def __init__(self, settings: Training, seed: int) -> None:
        super().__init__()
        self.settings, self.seed = settings, seed
        self.strict_loading = False
        self._sums: dict[str, list[float]] = {"train_loss": [0.0, 0.0], "val_loss": [0.0, 0.0]}

    @abstractmethod
    def losses(self, batch: Any) -> Tensor:
        """Return the loss of each item, [n]."""

    @abstractmethod
    def inside(self) -> Iterator[nn.Parameter]:
        """Return the parameters that learn at the encoder's rate."""

    def on_train_epoch_start(self) -> None:
        self._sums["train_loss"] = [0.0, 0.0]

    def training_step(self, batch: Any, number: int) -> Tensor:
        torch.manual_seed(_mixed(self.seed, self.current_epoch, number, self.global_rank))
        losses = self.losses(batch)
        self._add("train_loss", losses)
        return losses.mean()

    def on_train_epoch_end(self) -> None:
        self._log_mean("train_loss")

    def on_validation_epoch_start(self) -> None:
        self._sums["val_loss"] = [0.0, 0.0]

    def validation_step(self, batch: Any, _: int) -> None:
        self._add("val_loss", self.losses(batch))

    def on_validation_epoch_end(self) -> None:
        self._log_mean("val_loss")

    def _add(self, name: str, losses: Tensor) -> None:
        self._sums[name][0] += float(losses.detach().sum())
        self._sums[name][1] += len(losses)

    def _log_mean(self, name: str) -> None:
        total, count = self._sums[name]
        if count:
            self.log(name, total / count)

    def configure_optimizers(self) -> Any:
        inside = {id(parameter) for parameter in self.inside()}
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        groups = [
            {"params": [p for p in trained if id(p) not in inside], "lr": self.settings.lr},
            {"params": [p for p in trained if id(p) in inside], "lr": self.settings.encoder_lr},
        ]
        optimizer = torch.optim.AdamW([group for group in groups if group["params"]], weight_decay=WEIGHT_DECAY)
        total = max(int(self.trainer.estimated_stepping_batches), 1)
        rise = max(int(total * WARM_UP), 1)

        def rate(step: int) -> float:
            return min((step + 1) / rise, max(total - step, 0) / max(total - rise, 1))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["state_dict"] = self.own(checkpoint["state_dict"])

    def own(self, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return a state without what is not trained: that comes from the encoder's own weights."""
        trained = {name for name, p in self.named_parameters() if p.requires_grad}
        return {n: value for n, value in state.items() if n in trained or n.startswith(self.kept or "\0")}


def _mixed(*parts: int) -> int:
    """Return one seed from several numbers, apart for any two lists of them."""
    return int(np.random.SeedSequence([part % 2**32 for part in parts]).generate_state(1, np.uint64)[0] >> 1)
