"""The 400 published trajectories of the testbed paper, as records.

Their ids contain the label ("INS-00001-wrong_tool"), so each gets an opaque one and the published id moves to
``source.meta``, which no auditor sees. The group is the instance: 74 of the 141 instances occur in several variants,
and a split or a bootstrap that tears them apart counts one customer's story several times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, file_hash, lines, typed
from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.datasets.files import need_files
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

FILES = ("trajectory_judge/trajectories.jsonl", "trajectory_judge/verdicts.jsonl")


def opaque_id(published_id: str) -> str:
    """Return the id that stands for a published one without saying what it says."""
    return "tj-" + hashlib.sha256(published_id.encode()).hexdigest()[:16]


def _step(obj: Json, where: str) -> Step:
    fields = Fields(obj, where, ("index", "thought", "call", "observation"))
    call = Fields(fields.need("call", dict), f"{where}.call", ("tool", "args"))
    observation = Fields(fields.need("observation", dict), f"{where}.observation", ("ok", "data", "error"))
    action = Action(call.need("tool", str), call.need("args", dict))
    return Step(fields.need("index", int), fields.need("thought", str), action, dict(observation.obj), None)


def _label(obj: Json, where: str, twin: str | None) -> Label:
    fields = Fields(obj, where, ("faulty", "failure_step", "failure_type", "outcome_correct"))
    faulty, outcome = fields.need("faulty", bool), fields.need("outcome_correct", bool)
    if not faulty:
        return Label(False, (), outcome, "construction")
    kind = SUPPORT_DESK.check(fields.need("failure_type", str), fields.at("failure_type"))
    component = "final_answer" if kind == "unsupported_claim" else "action"
    return Label(True, (Fault(kind, fields.need("failure_step", int), component),), outcome, "construction", twin)


_KEYS = ("trajectory_id", "instance_id", "goal", "steps", "final_answer", "label")


def read_published(path: str | Path, receipt: Receipt) -> Iterator[Trajectory]:
    """Yield the trajectories of the published file, filling ``receipt``.

    Raises:
        RecordError: naming file, line and key.
    """
    rows = list(lines(path))
    ids = {typed(obj, dict, where).get("trajectory_id") for where, obj in rows}
    seen: set[str] = set()
    for where, obj in rows:
        fields = Fields(obj, f"{where}:", _KEYS)
        published, instance = fields.need("trajectory_id", str), fields.need("instance_id", str)
        if published in seen:
            raise RecordError(f"{where}: trajectory_id: duplicate id {published!r}")
        seen.add(published)
        clean = f"{instance}-clean"
        twin = opaque_id(clean) if clean in ids else None
        label = _label(fields.need("label", dict), fields.at("label"), twin)
        receipt.read += 1
        receipt.kept += 1
        if label.faulty:
            receipt.inferred["label.faults.component (from the type)"] = (
                receipt.inferred.get("label.faults.component (from the type)", 0) + 1
            )
        yield Trajectory(
            opaque_id(published),
            instance,
            fields.need("goal", str),
            fields.each("steps", _step),
            fields.need("final_answer", str),
            Source("trajectory_judge", "scripted", "customer_support", {"published_id": published}),
            label,
        )


def trajectory_judge(*, data_dir: str = "data", procedure: str = "support_desk") -> Dataset:
    """Return the published set.

    Args:
        data_dir: folder that holds ``trajectory_judge/trajectories.jsonl``.
        procedure: name of a procedure that ships with trajaudit, or a path to a procedure file.

    Raises:
        FileNotFoundError: naming the missing file and the command that fetches it.
    """
    paths = need_files("trajectory_judge", data_dir, FILES)
    receipt = Receipt()
    trajectories = list(read_published(paths[0], receipt))
    return Dataset(
        "trajectory_judge",
        lambda: iter(trajectories),
        SUPPORT_DESK,
        Procedure.named(procedure),
        receipt,
        rules="support_desk",
        files={name: file_hash(path) for name, path in zip(FILES, paths, strict=True)},
        size=len(trajectories),
    )
