"""The LightningModule: a thin shell that trains a network, keeps checkpoints plain, and repeats itself.

- A checkpoint holds only what is trained, as tensors and plain types, so it is small and loads with ``weights_only``.
- The loss of an epoch is the mean over its runs, from per-run sums, never a mean of batch means, and the AUC is taken
  once over all stored scores: neither depends on the batch size, and an AUC over one class is not logged at all.
- The random state is set from seed and epoch when an epoch starts, so a resumed run draws the dropout that the
  uninterrupted one drew.
"""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from trajaudit.detectors.batches import Batch
from trajaudit.detectors.loss import Weights, per_run
from trajaudit.detectors.network import Network, Output
from trajaudit.detectors.training import Training

WEIGHT_DECAY = 0.01
WARM_UP = 0.1


class DetectorModule(pl.LightningModule):
    """Trains a network on labelled runs.

    Args:
        weights: class weights, null for none.
        settings: the losses and learning rates; rates rise over the first tenth of all optimiser steps and then fall to
            zero, linearly.
    """

    def __init__(self, network: Network, weights: Weights | None, settings: Training, seed: int) -> None:
        super().__init__()
        self.network, self.settings, self.seed, self.weights = network, settings, seed, weights
        self.strict_loading = False
        self._sums: dict[str, list[float]] = {}
        self._scores: list[tuple[float, float]] = []

    def forward(self, batch: Batch) -> Output:
        return self.network(batch)

    def _losses(self, batch: Batch) -> tuple[Tensor, Output]:
        out = self.network(batch)
        weights = None if self.weights is None else self.weights.to(out.run.device)
        focal, missed = self.settings.loss == "focal", self.settings.missed
        return per_run(out.run, out.units, out.exists, batch.targets, weights, focal=focal, missed=missed), out

    def on_train_epoch_start(self) -> None:
        rank = self.global_rank
        torch.manual_seed((self.seed * 1_000_003 + self.current_epoch) * 1_009 + rank)
        self._sums["train_loss"] = [0.0, 0.0]

    def training_step(self, batch: Batch, _: int) -> Tensor:
        losses, _out = self._losses(batch)
        self._add("train_loss", losses)
        return losses.mean()

    def on_train_epoch_end(self) -> None:
        self._log_mean("train_loss")
        if self.network.backbone is not None and (padding := self.network.backbone.padding) is not None:
            self.log("padding", padding)

    def on_validation_epoch_start(self) -> None:
        self._sums["val_loss"], self._scores = [0.0, 0.0], []

    def validation_step(self, batch: Batch, _: int) -> None:
        losses, out = self._losses(batch)
        self._add("val_loss", losses)
        self._scores += zip(batch.targets.run[:, 0].tolist(), out.run[:, 0].tolist(), strict=True)

    def on_validation_epoch_end(self) -> None:
        self._log_mean("val_loss")
        truth, scores = zip(*self._scores, strict=True)
        if len(set(truth)) == 2:
            self.log("val_auc", float(roc_auc_score(truth, scores)))

    def _add(self, name: str, losses: Tensor) -> None:
        self._sums[name][0] += float(losses.detach().sum())
        self._sums[name][1] += len(losses)

    def _log_mean(self, name: str) -> None:
        total, count = self._sums[name]
        if count:
            self.log(name, total / count)

    def configure_optimizers(self) -> Any:
        backbone = self.network.backbone
        inside = {id(p) for p in backbone.parameters()} if backbone is not None else set()
        trained = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in trained if id(p) not in inside], "lr": self.settings.lr},
            {"params": [p for p in trained if id(p) in inside], "lr": self.settings.encoder_lr},
        ]
        optimizer = torch.optim.AdamW([g for g in groups if g["params"]], weight_decay=WEIGHT_DECAY)
        total = max(int(self.trainer.estimated_stepping_batches), 1)
        rise = max(int(total * WARM_UP), 1)

        def rate(step: int) -> float:
            return min((step + 1) / rise, max(total - step, 0) / max(total - rise, 1))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Leave out what is not trained: it comes from the encoder's own weights."""
        trained = {name for name, p in self.named_parameters() if p.requires_grad}
        kept = {name: value for name, value in checkpoint["state_dict"].items() if name in trained}
        checkpoint["state_dict"] = kept
