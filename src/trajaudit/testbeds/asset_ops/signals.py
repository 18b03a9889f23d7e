"""The five execution-quality flags of Trajel, each decided from what stands in a trajectory of the plant.

In the paper the benchmark's own evaluation gives the flags, without saying by what rule. Here each is a rule over
question, steps and answer that never sees the label, so a flag can be wrong about a run in a way that is known. What
none of them reads is whether a conclusion follows from its premises, or what a thought says: a fault that sits only
there leaves all five as they are, and that share of faults is how far execution quality can tell hallucination at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.mandates import DOMAIN, SUMMARISER, TOOLS_OF
from trajaudit.trajectory import Step, Trajectory

NAMING = ("site_name", "assetnum", "asset_name", "sensor", "start", "column", "target_column")
"""Arguments that say which data a call is about."""
FILE_ARGUMENTS = ("file_name", "dataset_path")
RETRIEVALS = ("assets", "sensors", "history")
"""Tools that write what they fetched to a file."""
_FIGURE = re.compile(r"/tmp/cbmdir/[0-9a-f-]+\.json|\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?|W[OB]-\d+|-?\d+\.\d+|\d+")


def flags_of(run: Trajectory) -> dict[str, bool]:
    """Return the five flags of a run, by the names of ``EXECUTION_FLAGS``, true where good."""
    return {
        "task_completion": task_completion(run),
        "data_retrieval_accuracy": data_retrieval_accuracy(run),
        "result_verification": result_verification(run),
        "agent_sequence_correct": agent_sequence_correct(run),
        "clarity_and_justification": clarity_and_justification(run),
    }


def task_completion(run: Trajectory) -> bool:
    """Whether every planned task was ended by the agent that it was given to, and the run ends in an answer.

    Reads the plan, which agent called ``finish`` how often, the last step, and whether there is a final answer; not
    what any of them says.
    """
    planned = Counter(agent for agent, _ in _plan(run))
    ended = Counter(step.agent for step in run.steps if _tool(step) == "finish")
    last = run.steps[-1]
    answered = bool(run.final_answer) and last.agent == SUMMARISER and _tool(last) == "finish"
    return bool(planned) and all(ended[agent] >= count for agent, count in planned.items()) and answered


def data_retrieval_accuracy(run: Trajectory) -> bool:
    """Whether all data that was asked of a tool is data that the question names.

    Reads the question and, of every call, the arguments that name a site, an asset, a sensor or a week; not what came
    back, so an honest empty result is accurate.
    """
    named = {str(value) for step in run.steps for key, value in _args(step).items() if key in NAMING}
    return all(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", run.task) for value in named)


def result_verification(run: Trajectory) -> bool:
    """Whether what was fetched was looked into, failures were followed up, and open orders were seen before a new one.

    Reads, of every file that a retrieval filled, whether a later call opened or analysed it; of every failed call,
    whether the same tool was called again or an agent's answer names it; of every order raised, whether the open orders
    of that asset were listed before. Not whether what was seen was understood.
    """
    return all(_followed_up(run, step) and _looked_into(run, step) and _looked_before(run, step) for step in run.steps)


def agent_sequence_correct(run: Trajectory) -> bool:
    """Whether each agent kept to its own tools, the plan's order was kept, and no analysis came before its data.

    Reads who called which tool, the order in which the domain agents first acted against the plan's, and whether each
    file that a tool was given was named by an earlier observation.
    """
    if any(_tool(step) not in TOOLS_OF.get(step.agent or "", ()) for step in run.steps):
        return False
    acted = list(dict.fromkeys(step.agent for step in run.steps if step.agent in DOMAIN))
    planned = list(dict.fromkeys(agent for agent, _ in _plan(run)))
    return acted == planned and all(_named_before(run, step) for step in run.steps)


def clarity_and_justification(run: Trajectory) -> bool:
    """Whether the answer is in sentences, and each figure and identifier in it was observed, asked, or worked out.

    Reads the final answer, the question and the observations. Worked out is the percentage by which one observed
    reading exceeds another. Words are not read: an asset's name, a direction or a conclusion may be wrong.
    """
    answer = run.final_answer or ""
    if not answer.rstrip().endswith((".", "!", "?")) or "{" in answer:
        return False
    known = set(_FIGURE.findall(run.task))
    for step in run.steps:
        if _tool(step) != "plan":
            known |= {figure for text in _texts(step.observation) for figure in _FIGURE.findall(text)}
    return all(figure in known or figure in _percentages(known) for figure in _FIGURE.findall(answer))


def _tool(step: Step) -> str:
    return (step.action.tool or "") if step.action is not None else ""


def _args(step: Step) -> dict[str, Any]:
    return (step.action.args or {}) if step.action is not None else {}


def _failed(step: Step) -> bool:
    return isinstance(step.observation, dict) and "error" in step.observation


def _plan(run: Trajectory) -> list[tuple[str, str]]:
    """Return (agent, task) of every planned task."""
    tasks: list[dict[str, str]] = next((_args(step)["tasks"] for step in run.steps if _tool(step) == "plan"), [])
    return [(task["agent"], task["task"]) for task in tasks]


def _followed_up(run: Trajectory, step: Step) -> bool:
    """Whether a call that failed was made again, or an agent said that its tool failed."""
    if not _failed(step):
        return True
    later = run.steps[step.index + 1 :]
    told = any(_tool(one) == "finish" and _tool(step) in str(_args(one).get("answer")) for one in later)
    return told or any(_tool(one) == _tool(step) for one in later)


def _looked_into(run: Trajectory, step: Step) -> bool:
    """Whether the file that a retrieval filled was given to a later call; an empty one need not be."""
    shown = step.observation
    if _tool(step) not in RETRIEVALS or not isinstance(shown, dict) or not shown.get("total_observations", 1):
        return True
    path = shown.get("file_path")
    return path is None or any(path in _files(later) for later in run.steps[step.index + 1 :])


def _looked_before(run: Trajectory, step: Step) -> bool:
    """Whether the open orders of an asset were listed before one was raised on it."""
    asset = _args(step).get("assetnum")
    return _tool(step) != "create_work_order" or any(
        _tool(one) == "list_work_orders" and _args(one).get("assetnum") == asset for one in run.steps[: step.index]
    )


def _named_before(run: Trajectory, step: Step) -> bool:
    """Whether every file that a call was given was named by an earlier observation."""
    return all(any(path in _texts(one.observation) for one in run.steps[: step.index]) for path in _files(step))


def _files(step: Step) -> list[Json]:
    return [value for key, value in _args(step).items() if key in FILE_ARGUMENTS]


def _texts(value: Json) -> Iterator[str]:
    """Yield every text and number in a JSON value, numbers as they are written in a sentence."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, float):
        yield f"{value:.2f}"
    elif value is not None:
        yield str(value)


def _percentages(known: set[str]) -> set[str]:
    """Return every percentage, to one decimal, by which one known reading exceeds another."""
    readings = sorted({float(text) for text in known if re.fullmatch(r"\d+\.\d\d", text)})
    return {f"{100 * (high - low) / low:.1f}" for low, high in permutations(readings, 2) if high > low > 0}
