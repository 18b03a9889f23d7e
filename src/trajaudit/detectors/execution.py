"""Trajel's five execution flags as far as any run shows them, whatever its tools are called.

A testbed that knows its tools has flags of its own, and better ones. These read calls and their outcomes (`Reading`):
task, arguments, what came back, the final answer; no plan and no thought. Real runs end early, repeat themselves and
work values out, so a lost flag here is a sign and no proof; what it is worth is learnt (`signals`).
"""

from __future__ import annotations

from trajaudit._fields import dumps
from trajaudit.detectors.grounding_reading import IDENTIFIER, Reading, numbers
from trajaudit.trajectory import Trajectory


def flags_of(run: Trajectory) -> dict[str, bool]:
    """Return the five flags of a run, by the names of ``EXECUTION_FLAGS``, true where good."""
    reading = Reading.of(run)
    return {
        "task_completion": task_completion(reading),
        "data_retrieval_accuracy": data_retrieval_accuracy(reading),
        "result_verification": result_verification(reading),
        "agent_sequence_correct": agent_sequence_correct(reading),
        "clarity_and_justification": clarity_and_justification(reading),
    }


def task_completion(reading: Reading) -> bool:
    """Whether something was called, its last call brought something back, and there is an answer."""
    return bool(reading.answer) and bool(reading.calls) and reading.calls[-1].outcome == "ok"


def data_retrieval_accuracy(reading: Reading) -> bool:
    """Whether every identifier that a tool was given stands in the task or in an earlier observation."""
    before = reading.task
    for call in reading.calls:
        if any(name not in before for name in IDENTIFIER.findall(dumps(call.args))):
            return False
        before += "\n" + call.text
    return True


def result_verification(reading: Reading) -> bool:
    """Whether every tool that failed or brought nothing was called again later and brought something."""
    return all(
        call.outcome == "ok"
        or any(later.tool == call.tool and later.step > call.step and later.outcome == "ok" for later in reading.calls)
        for call in reading.calls
    )


def agent_sequence_correct(reading: Reading) -> bool:
    """Whether no call was made twice with the same arguments."""
    made = [(call.tool, dumps(call.args)) for call in reading.calls]
    return len(set(made)) == len(made)


def clarity_and_justification(reading: Reading) -> bool:
    """Whether each number and identifier of the answer was asked or observed."""
    figures = all(reading.origin(number) != "nowhere" for number in numbers(reading.answer))
    return figures and all(reading.origin_of(name) != "nowhere" for name in IDENTIFIER.findall(reading.answer))
