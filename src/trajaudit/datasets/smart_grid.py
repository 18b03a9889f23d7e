"""2,244 real runs of Llama agents on 31 transformer-maintenance scenarios, with a silver hallucination label.

The label is what one LLM judge said, where it never contradicted itself (origin ``judge``): a reading of it, not the
truth. Runs that got both labels stay in the set without one. The group is the scenario: the runs of one scenario share
its question, its tools and its difficulty, and a split or a bootstrap that tears them apart counts them many times.

The runs come from one packed file, or from a clone of the public repository that recorded them; both give the same
records. ``ADDRESS`` and ``COMMIT`` say which repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, file_hash, lines
from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.datasets.files import need_files
from trajaudit.datasets.smart_grid_clone import read_clone
from trajaudit.datasets.smart_grid_judgments import FORM, SHOWN, JudgedRun, Judgment, bare_constants, settled
from trajaudit.datasets.smart_grid_steps import broke_off, record_of, shown_length, steps_of
from trajaudit.taxonomy import TRAJEL
from trajaudit.trajectory import Label, Source, Trajectory

FILES = ("smart_grid/runs.jsonl.gz",)
_KEYS = ("run_id", "run_name", "cohort", "scenario_id", "agent_model", "judgments", "record")
_SCENARIO_KEYS = (
    *("id", "type", "text", "category", "characteristic_form", "asset_id", "expected_tools", "ground_truth"),
    *("difficulty", "domain_tags"),
)


def smart_grid(*, data_dir: str = "data", clone: str | None = None, procedure: str = "industrial_agents") -> Dataset:
    """Return the runs, labelled where the judge never contradicted itself.

    Args:
        data_dir: folder that holds ``smart_grid/runs.jsonl.gz``.
        clone: folder of a clone of the public repository, read instead.
        procedure: name of a procedure that ships with trajaudit, or a path to a procedure file.

    Raises:
        FileNotFoundError: naming the missing file and how to get it.
        RecordError: naming file, line and key.
    """
    receipt = Receipt()
    files = {} if clone else {name: file_hash(path) for name, path in zip(FILES, _packed(data_dir), strict=True)}
    trajectories = [trajectory_of(run, receipt) for run in judged_runs(data_dir=data_dir, clone=clone, receipt=receipt)]
    return Dataset(
        "smart_grid",
        lambda: iter(trajectories),
        TRAJEL,
        Procedure.named(procedure),
        receipt,
        files=files,
        size=len(trajectories),
    )


def smart_grid_judgments(*, data_dir: str = "data", clone: str | None = None) -> Mapping[str, tuple[Judgment, ...]]:
    """Return every judgment, by the id of the trajectory that it is on, in the order of the source.

    Raises:
        as ``smart_grid``.
    """
    runs = judged_runs(data_dir=data_dir, clone=clone, receipt=Receipt())
    return {run.trajectory_id: run.judgments for run in runs}


def judged_runs(*, data_dir: str, clone: str | None, receipt: Receipt) -> Iterator[JudgedRun]:
    """Yield the runs with their judgments, from a clone where one is given, else from the packed file."""
    if clone is not None:
        yield from read_clone(clone, receipt)
        return
    (path,) = _packed(data_dir)
    seen: set[str] = set()
    for where, obj in lines(path, bare_constants(receipt)):
        run = _packed_run(Fields(obj, f"{where}:", _KEYS), where)
        if run.run_id in seen:
            raise RecordError(f"{where}: run_id: duplicate id {run.run_id!r}")
        seen.add(run.run_id)
        yield run


def _packed(data_dir: str) -> list[Path]:
    return need_files("smart_grid", data_dir, FILES)


def _packed_run(fields: Fields, where: str) -> JudgedRun:
    return JudgedRun(
        where,
        fields.need("run_id", str),
        fields.need("run_name", str),
        fields.need("scenario_id", str),
        fields.need("agent_model", str),
        fields.need("record", dict),
        fields.each("judgments", _judgment),
    )


def _judgment(obj: Json, where: str) -> Judgment:
    form = Fields(obj, where, (*FORM, "judge_model"))
    return Judgment.read(form, form.need("judge_model", str))


def trajectory_of(run: JudgedRun, receipt: Receipt) -> Trajectory:
    """Return a run's trajectory, counting in ``receipt`` what was inferred on the way.

    Raises:
        RecordError: naming file, line and key.
    """
    shape, record = record_of(run.record, f"{run.where}: record")
    scenario = Fields(record.need("scenario", dict), record.at("scenario"), _SCENARIO_KEYS)
    if scenario.need("id", str) != run.scenario:
        raise RecordError(f"{scenario.at('id')}: expected {run.scenario!r}, got {scenario.obj['id']!r}")
    question = record.maybe("question", str)
    steps = steps_of(shape, record)
    _count(run, receipt, asked=question is not None, broke=broke_off(record))
    faulty = settled(run.judgments)
    meta: dict[str, Json] = {"shape": shape, "success": record.need("success", bool)}
    meta["judge_saw_all"] = shown_length(record) <= SHOWN
    meta |= {key: scenario.need(key, str) for key in ("type", "category", "difficulty")}
    return Trajectory(
        run.trajectory_id,
        run.scenario,
        scenario.need("text", str) if question is None else question,
        steps,
        record.need("answer", str) or None,
        Source("smart_grid", run.model, "transformer_maintenance", meta),
        None if faulty is None else Label(faulty, origin="judge"),
        scenario.need("characteristic_form", str),
    )


def _count(run: JudgedRun, receipt: Receipt, *, asked: bool, broke: bool) -> None:
    receipt.read += 1
    receipt.kept += 1
    said = {
        "judged more than once": len(run.judgments) > 1,
        "label left out (the judge gave both)": settled(run.judgments) is None,
        "task (from the scenario, the record has no question)": not asked,
        "steps (the run broke off before its first turn: its error is the only one)": broke,
    }
    for reason, holds in said.items():
        if holds:
            receipt.inferred[reason] = receipt.inferred.get(reason, 0) + 1
