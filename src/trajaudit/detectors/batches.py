"""Runs into batches of a bounded number of tokens, with as little padding as the windows allow.

Two levels. A batch is some runs whose windows together hold at most ``budget`` tokens: what one optimiser step sees,
and what bounds memory. Inside the network the windows of a batch are sorted by length and padded in chunks, so a
40-token step is never padded to the window. Which runs share a batch is drawn anew each epoch from the seed and the
epoch alone, so a run that resumes sees what the uninterrupted one would have seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from trajaudit.detectors.targets import Targets, targets_of
from trajaudit.trajectory import Label


@dataclass
class Batch:
    """R runs with V vectors among them.

    ``windows`` are token ids, one tensor a window, with ``second`` the start of its second segment and ``spans`` [n, 2]
    what its vectors are means over; none where ``vectors`` [V, D] were encoded before. ``run`` and ``unit`` [V] say
    what each vector stands for, in the order of windows and spans. ``steps`` and ``rows`` are [R].
    """

    windows: list[Tensor]
    second: list[int]
    spans: list[Tensor]
    vectors: Tensor | None
    run: Tensor
    unit: Tensor
    steps: Tensor
    rows: Tensor
    targets: Targets


class Rows(Dataset[Batch]):
    """Encoded runs with their labels; asked for a list of rows it gives a batch.

    Args:
        encoded: an Arrow table as `trajaudit.detectors.encoded` writes it, in the order of ``labels``.
        budget: most tokens of one run that a training batch takes; of a longer run windows are drawn, those of faulty
            steps first. Null takes all.
    """

    def __init__(
        self,
        encoded: Any,
        labels: Sequence[Label | None],
        types: Sequence[str],
        budget: int | None = None,
        seed: int = 0,
    ) -> None:
        self.cached = "vectors" in encoded.column_names
        self.sizes = np.array(encoded["tokens"], dtype=np.int64)
        if self.cached:  # read once: decoding a row anew in every epoch would take longer than the heads
            table = encoded.with_format("numpy", columns=["vectors"], output_all_columns=True)
            encoded = [{**row, "vectors": _vectors(row)} for row in table]
        self.encoded, self.labels, self.types, self.budget, self.seed = encoded, labels, types, budget, seed
        self.epoch = 0

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: Any) -> Batch:
        found = [self.encoded[int(row)] for row in rows]
        labels = [self.labels[int(row)] for row in rows]
        kept = [self._kept(row, label, int(i)) for row, label, i in zip(found, labels, rows, strict=True)]
        steps = [row["steps"] for row in found]
        windows = [(place, row, w) for place, (row, keep) in enumerate(zip(found, kept, strict=True)) for w in keep]
        return Batch(
            [] if self.cached else [torch.tensor(row["ids"][w]) for _, row, w in windows],
            [] if self.cached else [row["second"][w] for _, row, w in windows],
            [] if self.cached else [torch.tensor(row["spans"][w]).reshape(-1, 2) for _, row, w in windows],
            torch.cat([row["vectors"] for row in found]) if self.cached else None,
            torch.tensor([place for place, row, w in windows for _ in row["units"][w]]),
            torch.tensor([unit for _, row, w in windows for unit in row["units"][w]]),
            torch.tensor(steps),
            torch.tensor([int(row) for row in rows]),
            targets_of(labels, steps, max(steps) + 1, self.types),
        )

    def _kept(self, row: Any, label: Label | None, index: int) -> list[int]:
        """Return the windows of a run that a batch takes."""
        every = list(range(len(row["units"])))
        if self.budget is None or row["tokens"] <= self.budget or self.cached:
            return every
        at_fault = {fault.step for fault in label.faults} if label is not None else set()
        drawn = np.random.default_rng((self.seed, self.epoch, index)).permutation(len(every)).tolist()
        left, kept = self.budget, list[int]()
        for window in sorted(drawn, key=lambda w: row["units"][w][0] not in at_fault):
            if len(row["ids"][window]) <= left or not kept:
                kept.append(window)
                left -= len(row["ids"][window])
        return sorted(kept)


def _vectors(row: Any) -> Tensor:
    return torch.tensor(np.asarray(row["vectors"], dtype=np.float32)).reshape(-1, row["width"])


class Epochs(Protocol):
    """Rows that batches are planned over: the tokens of each, the most that a batch takes of one, and the epoch."""

    sizes: NDArray[np.int64]
    budget: int | None
    epoch: int

    def __len__(self) -> int: ...


class Plan(Sampler[list[int]]):
    """Which rows form which batch, in each epoch; every process of a distributed run takes its own share.

    Args:
        sizes: tokens of each run.
        budget: most tokens of a batch, and ``most`` runs of one; a run that is longer alone has a batch of its own.
        shuffle: draw anew each epoch; else by length, for prediction.
    """

    def __init__(self, rows: Epochs, budget: int, most: int, shuffle: bool, seed: int) -> None:
        self.rows, self.budget, self.most, self.shuffle, self.seed = rows, budget, most, shuffle, seed
        self.sizes = rows.sizes if rows.budget is None else np.minimum(rows.sizes, rows.budget)

    def set_epoch(self, epoch: int) -> None:
        """Called by Lightning at the start of each epoch."""
        self.rows.epoch = epoch

    def batches(self) -> list[list[int]]:
        """Return all batches of the current epoch."""
        random = np.random.default_rng((self.seed, self.rows.epoch))
        # A little noise on the lengths: like stays with like, and yet no two epochs have the same batches.
        noise = random.uniform(0.8, 1.25, len(self.sizes)) if self.shuffle else 1.0
        found: list[list[int]] = []
        room = 0
        for row in np.argsort(self.sizes * noise, kind="stable").tolist():
            size = int(self.sizes[row])
            if not found or size > room or len(found[-1]) == self.most:
                found.append([])
                room = self.budget
            found[-1].append(row)
            room -= size
        return [found[i] for i in random.permutation(len(found))] if self.shuffle else found

    def __iter__(self) -> Iterator[list[int]]:
        found, (rank, world) = self.batches(), _place()
        if not self.shuffle:
            return iter(found)  # whoever evaluates sees every run once, on whichever process
        # All processes take equally many steps, or the last ones would wait for ever; some rows then count twice.
        extra = -len(found) % world
        return iter((found + found[:extra])[rank::world])

    def __len__(self) -> int:
        count = len(self.batches())
        return count if not self.shuffle else -(-count // _place()[1])


def _place() -> tuple[int, int]:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


def loader(rows: Epochs, budget: int, most: int = 32, shuffle: bool = False, seed: int = 0) -> DataLoader[Any]:
    """Return the batches of some rows; see `Plan`."""
    return DataLoader(cast("Dataset[Any]", rows), batch_size=None, sampler=Plan(rows, budget, most, shuffle, seed))


def chunks(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return windows sorted by length in chunks of at most ``budget`` tokens, padding included.

    A chunk's shortest window is padded by at most a quarter, or by eight tokens.

    >>> chunks([5, 100, 6, 90], 200)
    [[0, 2], [3, 1]]
    """
    found: list[list[int]] = []
    for window in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        shortest = lengths[found[-1][0]] if found else 0
        uneven = lengths[window] > max(1.25 * shortest, shortest + 8)
        if not found or uneven or (len(found[-1]) + 1) * lengths[window] > budget:
            found.append([])
        found[-1].append(window)
    return found
