"""Data files that nobody released as they are: what each is made from, and how to read that instead.

Such a file has no address and no hash to pin. What can be pinned is the commit of the repository that it was made from,
and the loader reads a clone of that as well; so a missing file is answered with the two commands that lead there.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Origin:
    """Where the content of a file comes from; ``key`` names what is told the folder of a clone."""

    made_from: str
    repository: str
    commit: str
    key: str
    required: bool

    @property
    def instructions(self) -> str:
        """How to read the content without the file, in one sentence that holds the commands."""
        folder = self.repository.rpartition("/")[2]
        return (
            f"it was never released as one file. It is made from {self.made_from}: `git clone {self.repository} && "
            f"git -C {folder} checkout {self.commit}`, then {self.key}={folder} reads the clone"
        )


def origins(dataset: str) -> dict[str, Origin]:
    """Return the origins of a dataset's unreleased files, by their path below the data folder."""
    return {name: Origin(**entry) for name, entry in _load().get(dataset, {}).items()}


def unreleased() -> list[str]:
    """Return the datasets that have such files."""
    return list(_load())


def _load() -> dict[str, dict[str, dict[str, Any]]]:
    known: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
        package_files("trajaudit.datasets").joinpath("origins.yaml").read_text()
    )
    return known


def missing(dataset: str, data_dir: str | Path) -> dict[str, Origin]:
    """Return those of a dataset's unreleased files that are not below ``data_dir``."""
    return {name: origin for name, origin in origins(dataset).items() if not (Path(data_dir) / name).is_file()}
