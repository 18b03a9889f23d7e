"""A progress bar on standard error for people; nothing at all where nobody watches (a pipe, CI, a batch job)."""

from __future__ import annotations

from typing import Protocol

from tqdm import tqdm


class Progress(Protocol):
    """What a long job tells of its way: one update an item, and that it is over."""

    def update(self, n: int = 1) -> object: ...

    def close(self) -> object: ...


def progress_bar(label: str, total: int | None = None, show: bool = True) -> Progress:
    """Return a bar that draws itself only where ``show`` is true and standard error is a terminal."""
    return tqdm(total=total, desc=label, disable=None if show else True, dynamic_ncols=True, mininterval=0.5)
