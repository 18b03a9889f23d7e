"""The verdict store: an append-only ``verdicts.jsonl`` from which a killed run resumes.

A verdict is filed under what was judged and by what: the trajectory's content hash, the auditor's spec hash and the
trajectory's id. So a changed observation, prompt or temperature asks again, and a changed label does not. Whether a run
resumes is decided by the verdicts that are there, never by what a status file says of the run. A failure that a later
run may mend (``api_error``, ``not_run``) is superseded by a later line; an answer, even an unparseable one, is final:
asking again until an answer pleases would bias every rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from trajaudit._fields import Json, RecordError, loads
from trajaudit._log import AppendLog
from trajaudit.verdict import RETRYABLE, Verdict

Key = tuple[str, str, str]
"""(content hash, spec hash, trajectory id)."""


def key_of(verdict: Verdict) -> Key:
    """Return what a verdict is filed under."""
    return verdict.content_hash, verdict.spec_hash, verdict.trajectory_id


class VerdictStore:
    """The verdicts of a run, held by one process at a time.

    Raises:
        LogLocked: another process holds the file.
        RecordError: a line (other than a torn last one, which is cut off) is not a verdict, or a second answer.
    """

    def __init__(self, path: str | Path) -> None:
        self._log = AppendLog(path)
        self._statuses: dict[Key, str] = {}
        try:
            for where, obj in self._log.entries:
                self._file(Verdict.from_json(obj, where), where)
        except RecordError:
            self.close()
            raise
        self._log.entries.clear()

    def status(self, key: Key) -> str | None:
        """Return the status of the latest verdict under ``key``, null where there is none."""
        return self._statuses.get(key)

    def is_final(self, key: Key) -> bool:
        """Say whether ``key`` has an answer that no later run asks for again."""
        status = self._statuses.get(key)
        return status is not None and status not in RETRYABLE

    def append(self, verdict: Verdict) -> None:
        """Write a verdict; when this returns, it outlives the process.

        Raises:
            RecordError: an answer is already stored under its key.
            OSError: the disk is full; what was stored is intact.
        """
        key = key_of(verdict)
        _refuse_second_answer(key, self._statuses.get(key), str(self._log.path))
        self._log.append(verdict.to_json())
        self._statuses[key] = verdict.status

    def _file(self, verdict: Verdict, where: str) -> None:
        key = key_of(verdict)
        _refuse_second_answer(key, self._statuses.get(key), where)
        self._statuses[key] = verdict.status

    def __len__(self) -> int:
        return len(self._statuses)

    def close(self) -> None:
        self._log.close()

    def __enter__(self) -> VerdictStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def final_verdicts(path: str | Path) -> list[Verdict]:
    """Return the latest verdict under each key of a store, in order of first appearance.

    It takes no lock and changes nothing, so a store that is being written can be read: a last line without its end is
    left out.

    Raises:
        RecordError: naming file and line, for a line that is not a verdict, or a second answer under one key.
    """
    latest: dict[Key, Verdict] = {}
    for where, verdict in _verdicts(_whole_lines(path)):
        key = key_of(verdict)
        _refuse_second_answer(key, latest[key].status if key in latest else None, where)
        latest[key] = verdict
    return list(latest.values())


def _verdicts(entries: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Verdict]]:
    return ((where, Verdict.from_json(obj, where)) for where, obj in entries)


def _whole_lines(path: str | Path) -> Iterator[tuple[str, Json]]:
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.endswith(b"\n"):
                where = f"{path}:{number}"
                yield where, loads(raw, where)


def _refuse_second_answer(key: Key, stored: str | None, where: str) -> None:
    if stored is not None and stored not in RETRYABLE:
        raise RecordError(
            f"{where}: trajectory_id: {key[2]!r} already has an answer ({stored}) of spec {key[1][:12]}… "
            f"on content {key[0][:12]}…; only {' and '.join(RETRYABLE)} are superseded"
        )
