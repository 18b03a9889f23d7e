"""Where published data lies, how it is fetched, and how a file is known to be the pinned one.

Nothing that others published is shipped: ``pins.yaml`` holds, for each dataset, the address of each file at a fixed
commit and its SHA-256, and a file that does not hash to its pin is never put in place.
"""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path

import yaml

from trajaudit._fields import file_hash, nearest
from trajaudit.datasets.origins import origins, unreleased

Pins = Mapping[str, Mapping[str, Mapping[str, str]]]


def load_pins() -> Pins:
    """Return the pinned files: dataset → path under the data folder → {url, sha256}."""
    return yaml.safe_load(package_files("trajaudit.datasets").joinpath("pins.yaml").read_text())


def need_files(dataset: str, data_dir: str | Path, names: Sequence[str]) -> list[Path]:
    """Return the paths of a dataset's files, or say which is missing and how to get it.

    Raises:
        FileNotFoundError
    """
    paths = [Path(data_dir) / name for name in names]
    for name, path in zip(names, paths, strict=True):
        if not path.is_file():
            origin = origins(dataset).get(name)
            get = f"Fetch it with `trajaudit fetch dataset={dataset}`" if origin is None else origin.instructions
            raise FileNotFoundError(
                f"dataset {dataset!r} needs {path}, which does not exist{'. ' if origin is None else '; '}{get}, "
                f"or set TRAJAUDIT_DATA to the folder that holds {names[0]}"
            )
    return paths


def git_blob(content: bytes) -> str:
    """Return the hash that git names a file of this content by, so that a clone and a copy name a record alike.

    >>> git_blob(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Fetched:
    """One file of a dataset: where it lies now and whether it had to be downloaded."""

    path: Path
    sha256: str
    downloaded: bool


def fetch(dataset: str, data_dir: str | Path, pins: Pins | None = None, timeout_s: float = 60.0) -> list[Fetched]:
    """Download a dataset's pinned files into ``data_dir``; files that are there already and match are left alone.

    Raises:
        ValueError: for a dataset without files, or a download whose SHA-256 differs from its pin.
        OSError: naming the address that could not be reached.
    """
    pins = load_pins() if pins is None else pins
    if dataset not in pins and origins(dataset):
        return []
    if dataset not in pins:
        known = sorted({*pins, *unreleased()})
        raise ValueError(
            f"dataset: {dataset!r} has no published files to fetch{nearest(dataset, known)}; known: {', '.join(known)}"
        )
    return [_fetch_one(Path(data_dir) / name, pin, timeout_s) for name, pin in pins[dataset].items()]


def _fetch_one(path: Path, pin: Mapping[str, str], timeout_s: float) -> Fetched:
    if path.is_file():
        found = file_hash(path)
        if found == pin["sha256"]:
            return Fetched(path, found, False)
        raise ValueError(
            f"{path}: expected sha256 {pin['sha256']}, got {found}: the file is not the pinned one; move it away and "
            "fetch again"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        _download(pin["url"], part, timeout_s)
        found = file_hash(part)
        if found != pin["sha256"]:
            raise ValueError(f"{pin['url']}: expected sha256 {pin['sha256']}, got {found}: nothing was put in place")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return Fetched(path, found, True)


def _download(url: str, part: Path, timeout_s: float) -> None:
    try:
        with urllib.request.urlopen(url, timeout=timeout_s) as reply, open(part, "wb") as file:
            while chunk := reply.read(1 << 20):
                file.write(chunk)
    except urllib.error.URLError as error:
        raise OSError(f"could not fetch {url}: {error.reason}") from error
    except TimeoutError as error:
        raise OSError(f"could not fetch {url}: no answer within {timeout_s:g} s") from error
