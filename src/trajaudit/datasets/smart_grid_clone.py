"""Smart grid runs from a clone of the public repository that recorded them.

Every judge log names the file of the run that it is on. A run is its file's content: two files with the same bytes are
one run, which then has the judgments of both, and the start of the content's git blob hash names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, fail, loads, typed
from trajaudit.dataset import Receipt
from trajaudit.datasets.files import git_blob
from trajaudit.datasets.smart_grid_judgments import FORM, JudgedRun, Judgment, bare_constants
from trajaudit.datasets.smart_grid_steps import RECORD_KEYS

LOGS = "results/judge_logs"
_LOG_KEYS = (
    *("schema_version", "scored_at", "run_name", "scenario_id", "trial_index", "judge_model", "trajectory_file"),
    *("scenario_file", "prompt_system", "prompt_user", "raw_response", "parsed_dims", "score_6d", "pass"),
)
_FILE_NAME = re.compile(r"\d{4}-\d\d-\d\d_[^_]+_(?P<model>[^_]+)_")
"""Date, cell and model of a run's file; what follows is the orchestration and the scenario."""


@dataclass(frozen=True)
class _Log:
    """One judge log: the run it is on, and what the judge said."""

    run_name: str
    scenario: str
    path: Path
    judgment: Judgment


def read_clone(clone: str | Path, receipt: Receipt) -> Iterator[JudgedRun]:
    """Yield the judged runs of a clone, by their first judge log in the order of paths.

    A log whose run is not in the clone is counted in ``receipt`` as dropped, as are the keys that are not read.

    Raises:
        FileNotFoundError: the folder holds no judge logs.
        RecordError: naming the file and the key.
    """
    root = Path(clone)
    found: dict[str, list[_Log]] = {}
    for path in _logs(root):
        log = _read_log(path, root)
        if log.path.is_file():
            found.setdefault(git_blob(log.path.read_bytes())[:12], []).append(log)
        else:
            reason = "judge log whose run file is absent"
            receipt.dropped[reason] = receipt.dropped.get(reason, 0) + 1
    unread: set[str] = set()
    for run_id, logs in found.items():
        path = logs[0].path
        record = typed(loads(path.read_bytes(), str(path), bare_constants(receipt)), dict, str(path))
        unread |= set(record) - set(RECORD_KEYS)
        yield _run(run_id, logs, {key: value for key, value in record.items() if key in RECORD_KEYS})
    if unread:
        receipt.notes.append(f"keys of recorded files that are not read: {', '.join(sorted(unread))}")


def _logs(root: Path) -> list[Path]:
    logs = sorted((root / LOGS).glob("*/*_judge_log.json"))
    if not logs:
        raise FileNotFoundError(f"dataset.clone: no judge logs in {root / LOGS}: expected a clone of the repository")
    return logs


def _read_log(path: Path, root: Path) -> _Log:
    log = Fields(loads(path.read_bytes(), str(path)), f"{path}:", _LOG_KEYS)
    form = Fields(log.need("parsed_dims", dict), log.at("parsed_dims"), FORM)
    judge = log.need("judge_model", str).rpartition("/")[2]
    target = root / log.need("trajectory_file", str)
    if not target.resolve().is_relative_to(root.resolve()):
        fail(log.at("trajectory_file"), "a path inside the clone", log.obj["trajectory_file"])
    return _Log(log.need("run_name", str), log.need("scenario_id", str), target, Judgment.read(form, judge))


def _run(run_id: str, logs: list[_Log], record: Json) -> JudgedRun:
    first = logs[0]
    named = _FILE_NAME.match(first.path.name)
    if named is None:
        raise RecordError(f"{first.path}: file name: expected date_cell_model_…, got {first.path.name!r}")
    judgments = tuple(log.judgment for log in logs)
    return JudgedRun(str(first.path), run_id, first.run_name, first.scenario, named["model"], record, judgments)
