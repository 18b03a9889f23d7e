"""A table of text from the Hugging Face hub, cell by cell as its CSV has it.

The hub's reader guesses types, so that an empty cell comes back as nothing and a column of "True" and "False" as
booleans; both are put back into the text of the released CSV, and the one strict reader of that checks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def hub_rows(hub_id: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield where each row stands, and the row as text, over all splits in their order.

    Args:
        hub_id: ``owner/name`` on the hub, or the path of a local folder of the same layout.

    Raises:
        ValueError: ``datasets`` is not installed, or the dataset cannot be loaded (unknown, or no network).
    """
    try:
        from datasets import load_dataset
    except ImportError:
        raise ValueError("hub_id: needs the package `datasets`, which is not installed: pip install datasets") from None
    try:
        splits = load_dataset(hub_id)
    except Exception as error:  # the library raises its own, the hub client's and the network's
        cause = " ".join(str(error).split())
        raise ValueError(f"hub_id: could not load {hub_id!r}: {type(error).__name__}: {cause}") from error
    for name, rows in splits.items():
        for number, row in enumerate(rows, start=1):
            yield f"{hub_id}/{name}:{number}", {str(column): _text(value) for column, value in row.items()}


def _text(value: Any) -> str:
    return "" if value is None else str(value)
