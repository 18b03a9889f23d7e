"""What the members of the grounding detector read of a run, made once per content: features, words, a vector.

The vector is the mean over the tokens of the final answer in a frozen encoder. Only the answer is encoded: with the
task beside it, a linear head learns which scenario it reads (pooled AUC on smart_grid fell from 0.79 to 0.74).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets as hf
import numpy as np
import torch
from numpy.typing import NDArray

from trajaudit._fields import Json
from trajaudit.detectors.cache import Cache
from trajaudit.detectors.encoders import Encoder, Loaded
from trajaudit.detectors.grounding_features import matrix
from trajaudit.detectors.grounding_reading import Reading
from trajaudit.detectors.grounding_words import words
from trajaudit.trajectory import Trajectory

VERSION = 1
"""Raised when a feature or the masking changes: it names the cache."""
_BATCH = 32
_FLOATS = hf.Sequence(hf.Value("float64"))
_COLUMNS = {"features": _FLOATS, "words": hf.Value("string"), "vector": _FLOATS, "unseen": hf.Value("int64")}


@dataclass(frozen=True, eq=False)
class Inputs:
    """Of n runs: ``features`` [n, f], ``words`` [n], ``vectors`` [n, width], and tokens of answers cut off, [n]."""

    features: NDArray[np.float64]
    words: tuple[str, ...]
    vectors: NDArray[np.float64]
    unseen: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, at: NDArray[Any]) -> Inputs:
        """Return the runs at some positions, or where a mask is true."""
        chosen = np.arange(len(self))[at]
        texts = tuple(self.words[i] for i in chosen)
        return Inputs(self.features[chosen], texts, self.vectors[chosen], self.unseen[chosen])


def inputs_of(runs: Sequence[Trajectory], encoder: Encoder, identity: Json, window: int, folder: Path) -> Inputs:
    """Return the inputs of runs, in order.

    Args:
        identity: what could change a vector of the encoder, beside ``window``, the tokens that are read of an answer.
        folder: where caches lie.
    """
    cache = Cache(folder, "grounding", {"version": VERSION, "encoder": identity, "window": window}, _COLUMNS)
    hashes = [run.content_hash for run in runs]
    distinct = dict(zip(hashes, runs, strict=True))
    cache.fill(distinct, lambda missing: _made(missing, encoder, window))
    rows = cache.rows(hashes).with_format("numpy")
    return Inputs(
        np.stack(list(rows["features"])),
        tuple(str(text) for text in rows["words"]),
        np.stack(list(rows["vector"])),
        np.asarray(rows["unseen"], dtype=np.int64),
    )


def _made(runs: Sequence[Trajectory], encoder: Encoder, window: int) -> Iterator[Mapping[str, Any]]:
    readings = [Reading.of(run) for run in runs]
    vectors, unseen = encoded([reading.answer for reading in readings], encoder.load().untrained(), window)
    for reading, numbers, vector, lost in zip(readings, matrix(readings), vectors, unseen, strict=True):
        yield {"features": numbers, "words": words(reading), "vector": vector, "unseen": lost}


@torch.inference_mode()
def encoded(texts: Sequence[str], loaded: Loaded, window: int) -> tuple[NDArray[np.float64], list[int]]:
    """Return the mean vector of each text [n, width], and how many of its tokens did not fit into ``window``.

    Texts are batched by length, so that little is padded; an empty text has the vector of its special tokens.
    """
    whole = loaded.tokenizer(list(texts))["input_ids"]
    order = sorted(range(len(texts)), key=lambda i: len(whole[i]))
    found: dict[int, NDArray[np.float64]] = {}
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        read = loaded.tokenizer(
            [texts[i] for i in batch], padding=True, truncation=True, max_length=window, return_tensors="pt"
        )
        mask = read["attention_mask"].unsqueeze(-1)
        mean = (loaded.model(**read).last_hidden_state * mask).sum(1) / mask.sum(1)
        found |= dict(zip(batch, mean.double().numpy(), strict=True))
    return np.stack([found[i] for i in range(len(texts))]), [max(0, len(ids) - window) for ids in whole]
