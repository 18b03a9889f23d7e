"""An Arrow cache of what is slow to make from a run: its tokens, or the vectors of a frozen encoder.

A row is filed under the run's content hash, in a folder named by everything else that could change it (tokenizer,
recipe, weights), so an edited label keeps its row and an edited observation does not. Rows are added as whole shards
that appear under their name only when complete; nothing is ever rewritten, so any number of processes may read while
one writes, and two that write the same shard write the same bytes. The cache can be moved and read without a network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import datasets as hf

from trajaudit._fields import Json, canonical

Item = TypeVar("Item")
_NAME = 16


class Cache:
    """Rows of one schema under keys.

    Args:
        folder: where all caches lie; this one gets a folder of its own inside.
        kind: what the rows are (``tokens``, ``vectors``).
        spec: everything but the key that could change a row.
        features: the columns, without the key's own.
    """

    def __init__(self, folder: Path, kind: str, spec: Json, features: Mapping[str, Any]) -> None:
        self.folder = folder / f"{kind}-{hashlib.sha256(canonical(spec)).hexdigest()[:_NAME]}"
        self._features = hf.Features({"key": hf.Value("string"), **features})

    def fill(self, items: Mapping[str, Item], make: Callable[[Sequence[Item]], Iterable[Mapping[str, Any]]]) -> int:
        """Make the rows of all keys that have none, with one call of ``make``; return how many were made."""
        known = self._known()
        missing = {key: item for key, item in items.items() if key not in known}
        if not missing:
            return 0
        name = hashlib.sha256("\n".join(sorted(missing)).encode()).hexdigest()[:_NAME]
        rows = ({"key": key, **row} for key, row in zip(missing, make(list(missing.values())), strict=True))
        self._write(name, rows)
        return len(missing)

    def rows(self, keys: Sequence[str]) -> hf.Dataset:
        """Return the rows of ``keys``, in order, memory-mapped.

        Raises:
            KeyError: a key has no row; whoever asks was to ``fill`` first.
        """
        shards = [hf.Dataset.load_from_disk(str(path)) for path in self._shards()]
        if not shards:
            raise KeyError(f"{self.folder} holds no rows")
        whole = hf.concatenate_datasets(shards)
        place = {key: i for i, key in enumerate(whole["key"])}
        return whole.select([place[key] for key in keys])

    def _shards(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*") if path.is_dir() and not path.name.startswith("."))

    def _known(self) -> set[str]:
        return {key for path in self._shards() for key in hf.Dataset.load_from_disk(str(path))["key"]}

    def _write(self, name: str, rows: Iterator[Mapping[str, Any]]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{name}.{os.getpid()}"
        silent = hf.are_progress_bars_disabled()
        hf.disable_progress_bars()
        try:
            # In memory first: `from_generator` would leave a second copy in a cache folder of the library's own.
            hf.Dataset.from_list(list(rows), features=self._features).save_to_disk(str(part))
            os.rename(part, self.folder / name)
        except OSError:
            if not (self.folder / name).is_dir():  # else another process was first, with the same rows
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
            if not silent:
                hf.enable_progress_bars()
