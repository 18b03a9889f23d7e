"""The two folders that every verb is told of."""

from __future__ import annotations

from typing_extensions import TypedDict

IRRELEVANT = (
    "dataset.path",
    "dataset.data_dir",
    "dataset.base.path",
    "dataset.base.data_dir",
    "judge.data_dir",
    "llm.concurrency",
    "llm.timeout_s",
    "llm.retries",
    "llm.price",
    "llm.api_key_env",
)
"""Keys of a run's config that cannot change its results; the same run is found again whatever they are."""
HARDWARE = ("training.accelerator", "training.devices", "training.strategy")
"""The same of a fit: where its training ran."""


class Paths(TypedDict):
    """``data_dir`` holds published data, ``output_dir`` is where runs write."""

    data_dir: str
    output_dir: str
