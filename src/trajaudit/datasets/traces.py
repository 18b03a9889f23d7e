"""A user's own traces, read so that one bad line costs one run: what cannot be read is said, the rest is audited.

A store of ours must be whole, so its readers stop at the first fault. A log that somebody else's agent wrote need not
be: a killed writer tears its last line, two runs share an id. Here each such line is left out and named with its file
and number, and only a file without any readable run is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajaudit._fields import RecordError, loads, raw_lines
from trajaudit.dataset import Receipt
from trajaudit.trajectory import Trajectory

BROKEN = "a line that is no trajectory"


def read_traces(path: str | Path) -> tuple[list[Trajectory], Receipt]:
    """Return the trajectories of a JSONL file (or its gzip) in trajaudit's record format, labelled or not.

    Returns:
        the runs, and a receipt whose notes name file, line and fault of what was left out.

    Raises:
        FileNotFoundError: there is no such file.
        RecordError: nothing in it could be read; the first fault is named.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"traces: no such file: {path}")
    found: dict[str, Trajectory] = {}
    receipt = Receipt()
    for run in _each(Path(path), receipt):
        if isinstance(run, Trajectory) and run.id not in found:
            found[run.id] = run
            continue
        said = f"id: duplicate id {run.id!r}" if isinstance(run, Trajectory) else run
        where = f"{path}:{receipt.read}: " if isinstance(run, Trajectory) else ""
        receipt.notes.append(f"{where}{said}")
        receipt.dropped[BROKEN] = receipt.dropped.get(BROKEN, 0) + 1
    receipt.kept = len(found)
    if not found:
        raise RecordError(receipt.notes[0] if receipt.notes else f"{path}: expected at least one line, got none")
    return list(found.values()), receipt


def _each(path: Path, receipt: Receipt) -> Iterator[Trajectory | str]:
    """Yield each run, or what is wrong with its line; a packed file that was cut off ends with that."""
    try:
        for number, raw in enumerate(raw_lines(path), start=1):
            receipt.read = number
            where = f"{path}:{number}"
            try:
                yield Trajectory.from_json(loads(raw, where), where)
            except RecordError as error:
                yield str(error)
    except RecordError as error:
        yield str(error)
