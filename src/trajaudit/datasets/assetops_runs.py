"""135 real multi-agent runs of AssetOpsBench, with the agents and their reasoning steps; nobody has labelled them.

A planner hands out tasks, and an agent works each in a loop of thought, action and observation. Handing out a task is a
step of the agent ``planner``, so that a judge sees what each agent was asked. Code that an agent writes instead of a
call is a free-text action. What an agent handed back is a step only where its last action does not say it already. The
reviews that the system wrote of itself go to ``source.meta``: they are another auditor's opinion.

The group is the question's text, since two pairs of questions ask the same in the same words. Trajel's labels are of
other runs on some of these questions and must not be attached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, dumps, fail, file_hash, lines, loads, typed
from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.datasets.files import git_blob, need_files
from trajaudit.taxonomy import TRAJEL
from trajaudit.trajectory import Action, Source, Step, Trajectory

FILES = ("assetops_runs/base_model_16.jsonl.gz",)
FOLDER = "benchmark/cods_track1/track1_result/trajectory/[BASE]Model_16"
"""Where a clone holds the runs, one file a question."""
MODEL = "Model_16"
_STEP_KEYS = ("step", "thought", "action", "action_input", "observation", "state", "is_loop_detected")
_TASK_KEYS = ("task_number", "task_description", "agent_name", "response")
_LOG_KEYS = ("final_answer", "endstate", "reviews", "reflections")
_RUN_KEYS = ("source_path", "blob", "sha256", "config", "id", "text", "tasks")


def assetops_runs(*, data_dir: str = "data", clone: str | None = None, procedure: str = "industrial_agents") -> Dataset:
    """Return the runs, unlabelled.

    Args:
        data_dir: folder that holds ``assetops_runs/base_model_16.jsonl.gz``.
        clone: folder of a clone of the public repository, read instead.
        procedure: name of a procedure that ships with trajaudit, or a path to a procedure file.

    Raises:
        FileNotFoundError: naming what is missing and how to get it.
        RecordError: naming file, line and key.
    """
    receipt = Receipt()
    files = {}
    if clone is None:
        (path,) = need_files("assetops_runs", data_dir, FILES)
        files = {FILES[0]: file_hash(path)}
        trajectories = [_trajectory(blob, run, receipt) for blob, run in _packed(path)]
    else:
        trajectories = [_trajectory(blob, run, receipt) for blob, run in _cloned(Path(clone))]
    return Dataset(
        "assetops_runs",
        lambda: iter(trajectories),
        TRAJEL,
        Procedure.named(procedure),
        receipt,
        files=files,
        size=len(trajectories),
    )


def _packed(path: Path) -> Iterator[tuple[str, Fields]]:
    """Yield each run of the packed file with the git blob hash of the file that it was recorded in."""
    for where, obj in lines(path):
        run = Fields(obj, f"{where}:", _RUN_KEYS)
        yield run.need("blob", str), run


def _cloned(root: Path) -> Iterator[tuple[str, Fields]]:
    """Yield each run of a clone as the packed file has it: the loop of each task, without the prompts around it."""
    paths = sorted((root / FOLDER).glob("*.json"), key=_number)
    if not paths:
        raise FileNotFoundError(f"dataset.clone: no runs in {root / FOLDER}: expected a clone of the repository")
    for path in paths:
        content = path.read_bytes()
        run = Fields(loads(content, str(path)), f"{path}:", ("id", "text", "trajectory"))
        tasks = list(run.each("trajectory", _cloned_task))
        unpacked = {"id": run.need("id", int), "text": run.need("text", str), "tasks": tasks}
        yield git_blob(content), Fields(unpacked, f"{path}:", _RUN_KEYS)


def _number(path: Path) -> int:
    """Return the number of the question in the name of a recorded file."""
    number = path.stem.split("_")[1:2]
    return (
        int(number[0]) if number and number[0].isdecimal() else fail(f"{path}: file name", "Q_NUMBER_….json", path.name)
    )


def _cloned_task(obj: Json, where: str) -> Json:
    task = typed(obj, dict, where)
    log = typed(task.get("logs"), dict, f"{where}.logs")
    key = "trajectroy_log"  # as the harness spells it
    at = f"{where}.logs.{key}"
    steps = [typed(step, dict, f"{at}[{i}]") for i, step in enumerate(typed(log.get(key), list, at))]
    return {
        **{name: task.get(name) for name in _TASK_KEYS},
        **{name: log.get(name) for name in _LOG_KEYS},
        "steps": [{name: step.get(name) for name in _STEP_KEYS} for step in steps],
    }


def _trajectory(blob: str, run: Fields, receipt: Receipt) -> Trajectory:
    receipt.read += 1
    receipt.kept += 1
    tasks = run.each("tasks", lambda obj, where: Fields(obj, where, (*_TASK_KEYS, *_LOG_KEYS, "steps")))
    if not tasks:
        raise RecordError(f"{run.at('tasks')}: expected at least one task, got none")
    steps = [step for task in tasks for step in _steps(task)]
    text = run.need("text", str)
    return Trajectory(
        f"ar-{blob[:12]}",
        f"question-{hashlib.sha256(text.encode()).hexdigest()[:12]}",
        text,
        tuple(replace(step, index=index) for index, step in enumerate(steps)),
        tasks[-1].need("response", str) or None,
        Source(
            "assetops_runs",
            MODEL,
            "industrial_assets",
            {"question": f"Q_{run.need('id', int)}", "reviews": [task.need("reviews", list) for task in tasks]},
        ),
    )


def _steps(task: Fields) -> Iterator[Step]:
    agent, response = task.need("agent_name", str), task.need("response", str)
    assigned = f"Task {task.need('task_number', int)} to {agent}: {task.need('task_description', str)}"
    yield Step(0, None, Action(text=assigned), None, "planner")
    last = None
    for last in task.each("steps", lambda obj, where: _step(obj, where, agent)):
        yield last
    if response and response not in _said(last):
        yield Step(0, None, Action(text=response), None, agent)


def _said(step: Step | None) -> tuple[str, ...]:
    """Return what the last step of a task says, as its action or as what it read."""
    if step is None or step.action is None:
        return ()
    answer = (step.action.args or {}).get("answer")
    return tuple(text for text in (answer, step.action.text, step.observation) if isinstance(text, str))


def _step(obj: Json, where: str, agent: str) -> Step:
    step = Fields(obj, where, _STEP_KEYS)
    return Step(0, step.need("thought", str) or None, _action(step), step.need("observation", str) or None, agent)


def _action(step: Fields) -> Action | None:
    """Return a call by name, or free text: code, or an answer where a tool's name belongs."""
    name, given = step.obj.get("action"), step.need("action_input", str)
    if isinstance(name, list):
        return Action(text="\n".join(typed(part, str, step.at("action")) for part in name))
    if not isinstance(name, str):
        fail(step.at("action"), "a string or a list of strings", name)
    if name == "Finish":
        return Action("Finish", {"answer": given})
    if not name or "\n" in name or name.startswith("Final Answer"):
        text = "\n".join(part for part in (name, given) if part)
        return Action(text=text) if text else None
    return Action(name, _arguments(given))


def _arguments(given: str) -> dict[str, Json]:
    """Return the arguments of a call where they are a JSON object of finite numbers, else the text as it was given.

    >>> _arguments('{"site_name": "MAIN"}'), _arguments("site_name=MAIN")
    ({'site_name': 'MAIN'}, {'input': 'site_name=MAIN'})
    """
    try:
        found = loads(given, "action_input")
        dumps(found)  # 1e999 is JSON, and read as infinity
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"input": given}
