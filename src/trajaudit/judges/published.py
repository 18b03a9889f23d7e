"""Verdicts that others published, served as a judge like any other, so that they are scored by the same code.

The file is the testbed paper's ``verdicts.jsonl``: one object a line with ``trajectory_id, judge_id, faulty,
failure_step, failure_type, confidence, rationale, latency_s, prompt_tokens, completion_tokens, error``. Its ids contain
the label, so a dataset gives its trajectories opaque ones and keeps the published one in ``source.meta.published_id``;
that is where the two meet. What the file does not say stays unknown: prices and cached tokens are null, except where
nothing was asked of a model. The number of calls follows from the judge's name (``selfcons3:…`` made three).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, fail, lines
from trajaudit.auditor import spec_hash
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

VERSION = 1
_KEYS = (
    *("trajectory_id", "judge_id", "faulty", "failure_step", "failure_type", "confidence", "rationale"),
    *("latency_s", "prompt_tokens", "completion_tokens", "error"),
)
_ENSEMBLE = re.compile(r"selfcons(\d+):")


@dataclass(frozen=True)
class PublishedRow:
    """One published verdict as it stands in the file, its types checked; ``where`` is its file and line."""

    where: str
    trajectory_id: str
    judge_id: str
    faulty: bool
    step: int | None
    type: str | None
    confidence: float
    rationale: str | None
    latency_s: float | None
    prompt_tokens: int
    completion_tokens: int
    error: str | None

    @property
    def usage(self) -> Usage:
        if self.prompt_tokens == 0:
            return Usage()
        ensemble = _ENSEMBLE.match(self.judge_id)
        calls = int(ensemble[1]) if ensemble else 1
        return Usage(calls, self.prompt_tokens, None, self.completion_tokens, None)


class PublishedJudge:
    """The published verdicts of one judge. A trajectory that it has none for gets status ``not_run``."""

    def __init__(self, name: str, rows: Iterable[PublishedRow]) -> None:
        self.name = name
        self._rows: dict[str, PublishedRow] = {}
        for row in rows:
            if (first := self._rows.setdefault(row.trajectory_id, row)) is not row:
                raise RecordError(
                    f"{row.where}: duplicate verdict of {name!r} on {row.trajectory_id!r}, as {first.where}"
                )
        content = {key: _identity(row) for key, row in sorted(self._rows.items())}
        self.spec: dict[str, Json] = {
            "judge": "published",
            "version": VERSION,
            "judge_id": name,
            "sha256": spec_hash(content),
        }
        self._spec_hash = spec_hash(self.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the published verdict on a trajectory.

        Raises:
            RecordError: the row cites a step that the trajectory does not have.
        """
        published_id = trajectory.source.meta.get("published_id", trajectory.id)
        row = self._rows.get(published_id)
        if row is None:
            detail = f"no published verdict on {published_id!r}"
            return Verdict(trajectory.id, trajectory.content_hash, self.name, self._spec_hash, "not_run", detail=detail)
        return to_verdict(row, trajectory, self._spec_hash)


def read_published(path: str | Path, taxonomy: Taxonomy) -> dict[str, PublishedJudge]:
    """Return the judges of a published verdict file by ``judge_id``, in order of first appearance.

    Raises:
        RecordError: naming file, line and key, for a row that is not as described above or a second verdict.
    """
    rows: dict[str, list[PublishedRow]] = {}
    for where, obj in lines(path):
        row = read_row(obj, where, taxonomy)
        rows.setdefault(row.judge_id, []).append(row)
    return {name: PublishedJudge(name, of_judge) for name, of_judge in rows.items()}


def published_judges(*, data_dir: str, taxonomy: Taxonomy) -> list[PublishedJudge]:
    """Return the judges of the testbed paper, from ``trajectory_judge/verdicts.jsonl`` below ``data_dir``.

    Raises:
        FileNotFoundError: naming the file and the command that fetches it.
    """
    path = Path(data_dir) / "trajectory_judge" / "verdicts.jsonl"
    if not path.is_file():
        raise FileNotFoundError(
            f"judge 'published' needs {path}, which does not exist. Fetch it with `trajaudit fetch "
            "dataset=trajectory_judge`, or set TRAJAUDIT_DATA to the folder that holds trajectory_judge/"
        )
    return list(read_published(path, taxonomy).values())


def read_row(obj: Json, where: str, taxonomy: Taxonomy) -> PublishedRow:
    """Read one published verdict strictly."""
    fields = Fields(obj, f"{where}:", _KEYS)
    kind, confidence = fields.maybe("failure_type", str), fields.need("confidence", float)
    if not 0.5 <= confidence <= 1:
        fail(f"{where}: confidence", "a number in [0.5, 1]", confidence)
    return PublishedRow(
        where,
        fields.need("trajectory_id", str),
        fields.need("judge_id", str),
        fields.need("faulty", bool),
        fields.maybe("failure_step", int),
        None if kind is None else taxonomy.check(kind, f"{where}: failure_type"),
        confidence,
        fields.maybe("rationale", str),
        fields.maybe("latency_s", float),
        fields.need("prompt_tokens", int),
        fields.need("completion_tokens", int),
        fields.maybe("error", str),
    )


def to_verdict(row: PublishedRow, trajectory: Trajectory, spec: str) -> Verdict:
    """Return a published verdict on ``trajectory`` as our record; a row with an error is a ``parse_fail``.

    Raises:
        RecordError: naming file and line, where the row cites a step that the trajectory does not have.
    """
    if row.step is not None and not 0 <= row.step < len(trajectory.steps):
        fail(f"{row.where}: failure_step", f"0 to {len(trajectory.steps) - 1} (the last step)", row.step)
    filed: Mapping[str, Json] = {"usage": row.usage, "latency_s": row.latency_s, "rationale": row.rationale}
    key = (trajectory.id, trajectory.content_hash, row.judge_id, spec)
    if row.error is not None:
        return Verdict(*key, "parse_fail", detail=row.error, **filed)
    return Verdict(
        *key,
        faulty=row.faulty,
        score=row.confidence if row.faulty else 1 - row.confidence,
        step=row.step,
        types=() if row.type is None else (row.type,),
        confidence=row.confidence,
        evidence=() if row.step is None else (Evidence(row.step),),
        **filed,
    )


def _identity(row: PublishedRow) -> Json:
    """Return what of a row its identity is taken over: all but the place where it was found."""
    return {name: getattr(row, name) for name in row.__dataclass_fields__ if name != "where"}
