"""Execution flags as an auditor: what a lost flag is worth is learnt, and what is lost is read off any run."""

from __future__ import annotations

import pytest

from trajaudit.detectors.execution import flags_of
from trajaudit.detectors.signals import Signals
from trajaudit.taxonomy import EXECUTION_FLAGS
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

GOOD = dict.fromkeys(EXECUTION_FLAGS, True)


def run_of(calls: list[tuple[str, dict[str, object], object]], answer: str, **rest: object) -> Trajectory:
    steps = tuple(Step(i, None, Action(tool, args), seen) for i, (tool, args, seen) in enumerate(calls))
    return Trajectory("t1", "g1", "What is the load of T-020?", steps, answer, Source("toy"), **rest)  # type: ignore[arg-type]


def lost(run: Trajectory) -> set[str]:
    return {name for name, good in flags_of(run).items() if not good}


LOAD = ("load", {"id": "T-020"}, {"load": 61.5})


def test_a_run_that_asks_once_and_tells_what_it_saw_has_all_five_flags() -> None:
    assert lost(run_of([LOAD], "The load of T-020 is 61.5 kVA.")) == set()


@pytest.mark.parametrize(
    ("calls", "answer", "flag"),
    [
        ([LOAD, ("load", {}, None)], "The load of T-020 is 61.5.", "task_completion"),
        ([("load", {"id": "T-999"}, {"load": 61.5})], "The load is 61.5.", "data_retrieval_accuracy"),
        ([("price", {}, {"error": "down"}), LOAD], "The load of T-020 is 61.5.", "result_verification"),
        ([LOAD, LOAD], "The load of T-020 is 61.5.", "agent_sequence_correct"),
        ([LOAD], "The load of T-020 is 72.0.", "clarity_and_justification"),
    ],
)
def test_each_flag_is_lost_by_what_it_is_about(calls: list, answer: str, flag: str) -> None:
    assert flag in lost(run_of(calls, answer))


def test_a_failed_call_that_was_made_again_is_followed_up() -> None:
    assert lost(run_of([("load", {"id": "T-020"}, {"error": "down"}), LOAD], "T-020: 61.5.")) <= {
        "agent_sequence_correct"
    }


def told_by_answer(run: Trajectory) -> dict[str, bool]:
    return GOOD | {name: False for name in EXECUTION_FLAGS if name in (run.final_answer or "")}


def test_a_run_is_flagged_where_a_flag_is_lost_and_named_by_what_that_flag_went_with() -> None:
    """Three runs in four are faulty: a third of these lost one flag, a third another, a third (not flagged) none."""
    kinds = [("scope", "data_retrieval_accuracy"), ("procedural", "task_completion"), ("logical", "nothing"), None]
    runs = []
    for i in range(400):
        kind = kinds[i % 4]
        label = Label(False) if kind is None else Label(True, (Fault(kind[0], 0),))
        runs.append(run_of([LOAD], kind[1] if kind else "nothing", label=label))
    signals = Signals(told_by_answer)
    signals.fit(runs)
    scope, procedural, logical, clean = signals.predict(runs[:4])
    assert (scope.faulty, scope.types) == (True, ("scope",))
    assert (procedural.faulty, procedural.types) == (True, ("procedural",))
    assert logical.faulty is clean.faulty is False
    assert logical.score == clean.score == pytest.approx(0.5, abs=0.05)
    assert scope.score is not None
    assert scope.score > 0.8
    assert scope.rationale == "lost: data_retrieval_accuracy"


def test_without_a_labelled_run_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="expected labelled runs"):
        Signals(told_by_answer).fit([run_of([LOAD], "")])
