"""The LightningModule of the detectors: a thin shell around a network and its loss.

The AUC on held-out runs is taken once over all stored scores, so it does not depend on the batch size; where they are
of one class it is not logged at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from trajaudit.detectors.batches import Batch
from trajaudit.detectors.loss import Weights, per_run
from trajaudit.detectors.network import Network, Output
from trajaudit.detectors.trained import Trained
from trajaudit.detectors.training import Training


class DetectorModule(Trained):
    """Trains a network on labelled runs; ``weights`` are class weights, null for none."""

    kept = ("network.heads.",)  # buffers too: the scale of the vectors

    def __init__(self, network: Network, weights: Weights | None, settings: Training, seed: int) -> None:
        super().__init__(settings, seed)
        self.network, self.weights = network, weights
        self._scores: list[tuple[float, float]] = []

    def forward(self, batch: Batch) -> Output:
        out: Output = self.network(batch)
        return out

    def inside(self) -> Iterator[nn.Parameter]:
        return iter(()) if self.network.backbone is None else self.network.backbone.parameters()

    def losses(self, batch: Batch) -> Tensor:
        return self._loss(batch, self.network(batch))

    def _loss(self, batch: Batch, out: Output) -> Tensor:
        weights = None if self.weights is None else self.weights.to(out.run.device)
        focal, missed = self.settings.loss == "focal", self.settings.missed
        return per_run(out.run, out.units, out.exists, batch.targets, weights, focal=focal, missed=missed)

    def on_train_epoch_end(self) -> None:
        super().on_train_epoch_end()
        if self.network.backbone is not None and (padding := self.network.backbone.padding) is not None:
            self.log("padding", padding)

    def on_validation_epoch_start(self) -> None:
        super().on_validation_epoch_start()
        self._scores = []

    def validation_step(self, batch: Batch, _: int) -> None:
        out = self.network(batch)
        self._add("val_loss", self._loss(batch, out))
        self._scores += zip(batch.targets.run[:, 0].tolist(), out.run[:, 0].tolist(), strict=True)

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
        truth, scores = zip(*self._scores, strict=True)
        if len(set(truth)) == 2:
            self.log("val_auc", float(roc_auc_score(truth, scores)))
