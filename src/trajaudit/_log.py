"""An append-only JSONL file that survives ``kill -9``, a full disk and a second process: the ground under every store.

A killed writer leaves at most one torn line, at the end. It is cut off *before* anything is appended: appending after
it would weld two lines into corruption in mid-file, where no reader can tell what was lost. Corruption anywhere else
was not made by a crash, so it is an error that names its line, never skipped. A line reaches the operating system
before ``append`` returns, so it outlives the process; it is not forced to the disk (that would cost milliseconds a
line), so a power cut can cost the last seconds.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from trajaudit._fields import Json, RecordError, dumps, loads

_TAIL_BLOCK = 1 << 16


class LogLocked(OSError):
    """Another writer holds the file. The message names the file and the process."""


class AppendLog:
    """A JSONL file held by one writer at a time; ``entries`` is what it held when opened.

    Args:
        path: the file; it and its folders are made where absent. The lock is the file beside it, ``path + ".lock"``.

    Attributes:
        entries: ``("file:line", object)`` for each line at opening, in order.

    Raises:
        LogLocked: another writer holds the file.
        RecordError: a line other than a torn last one is not a JSON object.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self.path)
        self._file = -1
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            _repair_tail(self._file)
            self.entries: list[tuple[str, Json]] = _read(self.path)
            self._size = os.fstat(self._file).st_size
        except BaseException:
            self.close()
            raise

    def append(self, obj: Json) -> None:
        """Write one object as one line and hand it to the operating system.

        Raises:
            OSError: the line could not be written whole (a full disk); what was written of it is taken back.
            ValueError: the object holds NaN, or the log is closed.
        """
        if self._file < 0:
            raise ValueError(f"{self.path}: the log is closed")
        line = dumps(obj).encode() + b"\n"
        try:
            _write_whole(self._file, line)
        except OSError as error:
            self._take_back()
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(
                error.errno,
                f"could not append {len(line)} bytes ({reason}); the {self._size} bytes before them are intact, "
                "so the run can be started again once there is room",
                str(self.path),
            ) from error
        self._size += len(line)

    def _take_back(self) -> None:
        """Cut a partial line off; where even that fails, close, so that nothing is welded to it before a repair."""
        try:
            os.ftruncate(self._file, self._size)
        except OSError:
            self.close()

    def close(self) -> None:
        """Release the file and its lock; closing twice is harmless."""
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1

    def __enter__(self) -> AppendLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _lock(path: Path) -> int:
    """Take the lock beside ``path`` and leave our process id in it; the kernel frees it however the process ends."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise LogLocked(f"{path}: in use by process {holder}; wait for it to end, or write to another folder") from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _repair_tail(file: int) -> None:
    """Cut off a torn last line. A whole object that only lacks its newline was stored, so it is given one.

    No proper prefix of a JSON object is a JSON object, so the two cannot be confused.
    """
    size = os.fstat(file).st_size
    start = _last_line_start(file, size)
    tail = os.pread(file, size - start, start)
    if not tail:
        return
    try:
        whole = isinstance(loads(tail, "tail"), dict)
    except RecordError:
        whole = False
    if whole:
        _write_whole(file, b"\n")
    else:
        os.ftruncate(file, start)


def _last_line_start(file: int, size: int) -> int:
    """Return the offset after the last newline, reading backwards in blocks."""
    end = size
    while end > 0:
        start = max(0, end - _TAIL_BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _read(path: Path) -> list[tuple[str, Json]]:
    entries = []
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            where = f"{path}:{number}"
            obj = loads(raw, where)
            if not isinstance(obj, dict):
                raise RecordError(f"{where}: expected a JSON object, got {raw[:40]!r}")
            entries.append((where, obj))
    return entries


def _write_whole(file: int, data: bytes) -> None:
    """Write all of ``data``; the kernel may take a part and report a full disk only on the next call."""
    while data:
        data = data[os.write(file, data) :]
