"""What the services of a run keep: the files that tools have written, and what was done to the work orders.

A file is found by its path alone, whoever wrote it and whoever asks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.histories import Week
from trajaudit.testbeds.draw import opaque
from trajaudit.testbeds.replay import Arguments

FOLDER = "/tmp/cbmdir"


class DataFile(NamedTuple):
    """A file that a tool wrote: a list of names or a result as it is, or the rows of one sensor over one week."""

    content: Json = None
    column: str = ""
    week: str = ""
    rows: Week | None = None


def error(message: str) -> dict[str, Any]:
    """Return the observation of a call that failed."""
    return {"error": message}


class Services:
    """The state of one run in the world of this name. ``key`` keeps the paths and numbers of different runs apart.

    ``created`` holds the arguments of every work order that was raised, ``bundles`` the orders of every bundle. Where
    ``purge`` is set, the next history file is gone as soon as it is written.
    """

    def __init__(self, world: str, key: str, purge: bool) -> None:
        self.world, self.key, self.purge = world, key, purge
        self.files: dict[str, DataFile] = {}
        self.written = 0
        self.created: list[Arguments] = []
        self.bundles: list[list[str]] = []

    def stored(self, file: DataFile, *named: object) -> str:
        """Keep a file and return its path, another one for every file that is written."""
        digits = opaque("|".join((self.key, *map(str, named), str(self.written))))
        path = f"{FOLDER}/{digits[:8]}-{digits[8:12]}-{digits[12:]}.json"
        self.written += 1
        self.files[path] = file
        return path
