"""``trajaudit fetch``: put a dataset's published files where the loaders look for them."""

from __future__ import annotations

from pathlib import Path

from trajaudit.config import Choice
from trajaudit.datasets.files import fetch as fetch_files
from trajaudit.datasets.origins import missing, origins
from trajaudit.verbs.paths import Paths


def fetch(*, dataset: Choice, paths: Paths, timeout_s: float = 60.0) -> int:
    """Download a dataset's published files from their pinned addresses and check their SHA-256.

    Exit status 1 where the dataset cannot be read with what is there then.
    """
    name = str(dataset.config["_target_"]).rpartition(".")[2]
    for file in fetch_files(name, paths["data_dir"], timeout_s=timeout_s):
        print(f"{'fetched' if file.downloaded else 'already there'}: {file.path} (sha256 {file.sha256[:12]}…)")
    left = missing(name, paths["data_dir"])
    for file_name in set(origins(name)) - set(left):
        print(f"already there: {Path(paths['data_dir']) / file_name} (never released as one file, so no hash to check)")
    for file_name, origin in left.items():
        print(f"not fetched: {file_name}{'' if origin.required else ' (optional)'}; {origin.instructions}")
    return int(any(origin.required for origin in left.values()))
