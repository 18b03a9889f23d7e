"""Run folders: ``outputs/<verb>/<name>/<config hash>/``, one for each thing that could be asked for.

The folder is named by what was asked, never by the clock or a counter, so the same command finds its own work again:
finished, it is a no-op; killed, it resumes; and two jobs of a sweep that start in one second cannot share a folder.
What cannot change a result (where files lie, how many workers, whether a bar is drawn) is left out of the hash. Data
are not named by their path but compared by content: the same command over changed data is not done.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType

import yaml

from trajaudit._fields import Json, canonical, dumps, loads
from trajaudit._log import AppendLog
from trajaudit.runs.manifest import code_identity, machine, now, packages, source_hash, without_secrets

IRRELEVANT = ("paths", "progress", "concurrency")
"""Keys of a configuration that cannot change a result, as dotted paths."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.,=+-]*")
_WATCHES: ContextVar[Callable[[Path], None] | None] = ContextVar("watches", default=None)


def config_hash(config: Mapping[str, Json], irrelevant: Collection[str] = IRRELEVANT) -> str:
    """Return 16 hexadecimal digits that identify a resolved configuration, apart from keys that change no result.

    >>> config_hash({"seed": 0, "paths": {"root": "a"}}) == config_hash({"paths": {"root": "b"}, "seed": 0})
    True
    >>> config_hash({"seed": 0}) == config_hash({"seed": None})
    False
    """
    return hashlib.sha256(canonical(_without(config, irrelevant))).hexdigest()[:16]


@contextmanager
def watched_folders(watch: Callable[[Path], None]) -> Iterator[None]:
    """Tell ``watch`` of each run folder that is opened inside the block, before anything is written there.

    A verb finds its folder only once it has read its data; a sweep has to know it, and may refuse it by raising.
    """
    token = _WATCHES.set(watch)
    try:
        yield
    finally:
        _WATCHES.reset(token)


def finished_with(folder: Path) -> dict[str, str] | None:
    """Return the SHA-256 by name of what a finished run read; null where it is not finished, or by other code."""
    marker, manifest = folder / ".done", folder / "manifest.json"
    if not marker.is_file() or not manifest.is_file():
        return None
    identity = loads(marker.read_text(), str(marker))
    outputs = loads(manifest.read_text(), str(manifest)).get("outputs", [])
    if identity["code"] != source_hash() or not all((folder / name).exists() for name in outputs):
        return None
    return dict(identity["data"])


class RunFolder:
    """The folder of one run, held by one process; leave its ``with`` block in order and the run is done.

    Attributes:
        path: the folder.
        done: an earlier run finished this very command over these very data with this very code, and what it wrote is
            still there; there is nothing to do.

    Raises:
        LogLocked: another process works in the folder (its number is named).
        ValueError: the verb or name cannot be a folder's name.
    """

    def __init__(
        self, path: Path, manifest: dict[str, Json], config: Mapping[str, Json], outputs: Collection[str]
    ) -> None:
        self.path = path
        self._manifest, self._outputs = manifest, outputs
        if (watch := _WATCHES.get()) is not None:
            watch(path)
        self._attempts = AppendLog(path / "attempts.jsonl")
        self._reason: str | None = None
        try:
            self.done = self._finished_before()
            if not self.done:
                self._start(config)
        except BaseException:
            self._attempts.close()
            raise

    @classmethod
    def open(
        cls,
        root: str | Path,
        verb: str,
        name: str,
        config: Mapping[str, Json],
        *,
        data: Mapping[str, str] | None = None,
        seeds: Mapping[str, int | None] | None = None,
        irrelevant: Collection[str] = IRRELEVANT,
        command: Sequence[str] | None = None,
        outputs: Collection[str] = (),
    ) -> RunFolder:
        """Open the folder of a command, making it where it is new.

        Args:
            config: the resolved configuration, of plain JSON values.
            data: SHA-256 by name of what the run reads.
            irrelevant: dotted keys of ``config`` that cannot change a result.
            command: the command line; this process's own where null.
            outputs: files without which the run is not done.
        """
        for part in (verb, name):
            if not _PLAIN_NAME.fullmatch(part):
                raise ValueError(f"run folder: expected a name of letters, digits and . , = + - _, got {part!r}")
        digest = config_hash(config, irrelevant)
        manifest = {
            "verb": verb,
            "name": name,
            "config_hash": digest,
            "status": "running",
            "error": None,
            "started": now(),
            "finished": None,
            "command": list(sys.argv if command is None else command),
            "data": dict(data or {}),
            "seeds": dict(seeds or {}),
            "outputs": sorted(outputs),
        }
        return cls(Path(root) / verb / name / digest, manifest, config, outputs)

    def fail(self, reason: str) -> None:
        """Say that the run is not done although nothing was raised (a spent budget): the same command resumes it."""
        self._reason = reason

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if not self.done:
                reason = self._reason if error is None else f"{type(error).__name__}: {error}"
                self._end("done" if reason is None else "failed", reason)
        finally:
            self._attempts.close()

    def note(self, key: str, value: Json) -> None:
        """Put something into the manifest that is known only once the run is under way."""
        self._manifest[key] = value
        self._write_manifest()

    def _finished_before(self) -> bool:
        marker = self.path / ".done"
        if not marker.exists() or not all((self.path / name).exists() for name in self._outputs):
            return False
        return bool(loads(marker.read_text(), str(marker)) == self._identity())

    def _identity(self) -> Json:
        """Return what a finished run was finished with; the configuration is in the folder's name."""
        return {"data": self._manifest["data"], "code": source_hash()}

    def _start(self, config: Mapping[str, Json]) -> None:
        (self.path / ".done").unlink(missing_ok=True)
        self._manifest |= {"code": code_identity(), "machine": machine(), "packages": packages()}
        attempt = {"started": self._manifest["started"], "pid": os.getpid(), "command": self._manifest["command"]}
        self._attempts.append(json.loads(without_secrets(dumps(attempt))))
        # Through JSON and back: the YAML then holds plain types only, whatever mapping class the caller used.
        text = yaml.safe_dump(json.loads(canonical(config)), sort_keys=True, allow_unicode=True)
        _replace(self.path / "config.yaml", without_secrets(text))
        self._write_manifest()

    def _end(self, status: str, error: str | None) -> None:
        self._manifest |= {"status": status, "error": error, "finished": now()}
        self._write_manifest()
        if status == "done":
            _replace(self.path / ".done", dumps(self._identity()))
            self.done = True

    def _write_manifest(self) -> None:
        text = json.dumps(self._manifest, ensure_ascii=False, allow_nan=False, indent=2)
        _replace(self.path / "manifest.json", without_secrets(text) + "\n")


def _without(config: Mapping[str, Json], dotted: Collection[str]) -> dict[str, Json]:
    """Return a configuration without the keys that ``dotted`` names."""
    out: dict[str, Json] = {}
    for key, value in config.items():
        if key in dotted:
            continue
        below = [path[len(key) + 1 :] for path in dotted if path.startswith(f"{key}.")]
        out[key] = _without(value, below) if below and isinstance(value, Mapping) else value
    return out


def _replace(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
