"""Runs, tokenised once: the Arrow table that training and prediction read.

With a frozen encoder its vectors are kept too, once per content, recipe and weights; heads then train in seconds, for
as many folds and seeds as one likes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets as hf
import torch
from lightning_fabric.utilities import move_data_to_device

from trajaudit._fields import Json
from trajaudit.detectors.backbone import Backbone
from trajaudit.detectors.batches import Rows, loader
from trajaudit.detectors.cache import Cache
from trajaudit.detectors.encoding import Encoded, Recipe, Tokenizer
from trajaudit.trajectory import Trajectory

_INTS = hf.Sequence(hf.Value("int32"))
_UNITS = {"units": hf.Sequence(_INTS), "steps": hf.Value("int32"), "tokens": hf.Value("int64")}
_LOST = {"unseen": hf.Value("int64"), "unseen_steps": _INTS}
TOKENS = {**_UNITS, **_LOST, "ids": hf.Sequence(_INTS), "spans": hf.Sequence(_INTS), "second": _INTS}
_MANY = 16
"""Batches that are sorted by length together: nothing is kept for a gradient, so only chunks bound the memory."""
_PORTION = 512
"""Runs whose vectors are kept together: what a killed encoding loses at most."""
VECTORS = {**_UNITS, **_LOST, "vectors": hf.Sequence(hf.Value("float32")), "width": hf.Value("int32")}
VECTORS["seconds"] = hf.Value("float64")  # what encoding the run took, so that a verdict from the cache states its cost


def tokens_of(
    runs: Sequence[Trajectory], recipe: Recipe, tokenizer: Tokenizer, identity: Json, folder: Path | None
) -> hf.Dataset:
    """Return the runs as windows of tokens, in order.

    Args:
        identity: what could change a token, beside the recipe.
        folder: where caches lie; null makes everything anew and keeps nothing.
    """
    if folder is None:
        return hf.Dataset.from_list([_row(recipe.encode(run, tokenizer)) for run in runs], hf.Features(TOKENS))
    cache = Cache(folder, "tokens", {"recipe": recipe.spec, "tokenizer": identity}, TOKENS)
    distinct = {run.content_hash: run for run in runs}
    cache.fill(distinct, lambda missing: (_row(recipe.encode(run, tokenizer)) for run in missing))
    return cache.rows([run.content_hash for run in runs])


def vectors_of(
    runs: Sequence[Trajectory],
    tokens: hf.Dataset,
    backbone: Backbone,
    recipe: Recipe,
    identity: Json,
    folder: Path | None,
) -> hf.Dataset:
    """Return the runs as vectors of a frozen encoder, in order; ``tokens`` are the same runs as tokens."""
    if folder is None:
        return hf.Dataset.from_list(list(_encoded(tokens, backbone)), hf.Features(VECTORS))
    cache = Cache(folder, "vectors", {"recipe": recipe.spec, "encoder": identity}, VECTORS)
    place = list({run.content_hash: i for i, run in enumerate(runs)}.items())
    for start in range(0, len(place), _PORTION):
        cache.fill(
            dict(place[start : start + _PORTION]), lambda missing: _encoded(tokens.select(list(missing)), backbone)
        )
    return cache.rows([run.content_hash for run in runs])


def _row(encoded: Encoded) -> Mapping[str, Any]:
    return {
        "ids": [list(window.ids) for window in encoded.windows],
        "spans": [[edge for span in window.spans for edge in span] for window in encoded.windows],
        "second": [window.second for window in encoded.windows],
        "units": [list(window.units) for window in encoded.windows],
        "steps": encoded.steps,
        "tokens": encoded.tokens,
        "unseen": encoded.unseen,
        "unseen_steps": list(encoded.unseen_steps),
    }


@torch.inference_mode()
def _encoded(tokens: hf.Dataset, backbone: Backbone) -> Iterable[Mapping[str, Any]]:
    """Return the vectors of each run, in the order of ``tokens``."""
    rows = Rows(tokens, [None] * len(tokens), ())
    found: dict[int, Mapping[str, Any]] = {}
    backbone.eval()
    device = next(backbone.parameters()).device
    for batch in loader(rows, _MANY * backbone.budget, most=256):
        start = time.perf_counter()
        vectors = backbone(move_data_to_device(batch, device)).cpu()
        seconds = (time.perf_counter() - start) / len(batch.rows)
        for place, row in enumerate(batch.rows.tolist()):
            own = vectors[batch.run == place].numpy().ravel()
            found[row] = {"vectors": own, "width": backbone.width, "seconds": seconds}
    kept = (*_UNITS, *_LOST)
    return [{**{name: row[name] for name in kept}, **found[i]} for i, row in enumerate(tokens)]
