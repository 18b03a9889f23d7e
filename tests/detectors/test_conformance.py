"""A process mined from clean runs, and what departs from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trajaudit.detectors.conformance import Conformance
from trajaudit.detectors.conformance_log import event_log, same
from trajaudit.detectors.conformance_mining import mine
from trajaudit.detectors.conformance_model import Precedence, ProcessModel, Required, Source, Unique
from trajaudit.detectors.conformance_replay import deviations
from trajaudit.trajectory import Action, Label, Step, Trajectory
from trajaudit.trajectory import Source as Origin


def pump(number: int, *turns: tuple[str, dict[str, Any], Any]) -> Trajectory:
    """A run about one pump; its oracle reads the pump, has the permit checked, and closes it at the permitted rate."""
    name, rate = f"P-{number:03d}", float(number) + 0.5
    oracle = (
        ("read", {"pump": name}, {"pump": name, "load": rate * 2}),
        ("permit", {"pump": name}, {"granted": True, "rate": rate}),
        ("close", {"pump": name, "rate": rate}, {"closed": True}),
        ("report", {"text": "the pump was closed as permitted"}, {"sent": True}),
    )
    steps = tuple(Step(i, None, Action(tool, args), seen) for i, (tool, args, seen) in enumerate(turns or oracle))
    return Trajectory(f"t{number}", f"g{number}", f"Close {name}.", steps, None, Origin("pumps"), Label(False))


def refused(number: int) -> Trajectory:
    """A healthy run whose permit is refused, and which therefore asks for help."""
    name = f"P-{number:03d}"
    return pump(
        number,
        ("read", {"pump": name}, {"pump": name, "load": 1.0}),
        ("permit", {"pump": name}, {"granted": False, "rate": 0.0}),
        ("help", {"pump": name}, {"asked": True}),
        ("report", {"text": "somebody else has to look at it"}, {"sent": True}),
    )


@pytest.fixture(scope="module")
def model() -> ProcessModel:
    return mine([event_log(pump(n)) for n in range(1, 60)] + [event_log(refused(n)) for n in range(60, 90)])


def kinds(run: Trajectory, model: ProcessModel) -> list[tuple[str, int]]:
    return [(deviation.kind, deviation.step) for deviation in deviations(event_log(run), model)]


def test_the_model_says_what_precedes_what_and_where_arguments_come_from(model: ProcessModel) -> None:
    assert Precedence("close", "permit", "pump") in model.precedence
    assert Source("close", "rate", "permit", "rate", "pump") in model.sources
    assert Source("close", "rate", "read", "load", "pump") not in model.sources
    assert Unique("report", None) in model.unique
    assert Required("pump", ("close", "help")) in model.required
    assert model.ends == ("report",)
    assert [(guard.tool, guard.field, guard.value) for guard in model.guards] == [
        ("close", "granted", True),
        ("help", "granted", False),
    ]


def test_the_runs_that_it_was_mined_from_keep_to_it(model: ProcessModel) -> None:
    assert [kinds(run, model) for run in (pump(101), refused(102))] == [[], []]


def test_a_skipped_check_is_missed_where_its_result_was_needed(model: ProcessModel) -> None:
    run = pump(
        7,
        ("read", {"pump": "P-007"}, {"pump": "P-007", "load": 15.0}),
        ("close", {"pump": "P-007", "rate": 15.0}, {"closed": True}),
        ("report", {"text": "the pump was closed as permitted"}, {"sent": True}),
    )
    assert kinds(run, model) == [("skipped", 1)]


def test_a_needless_call_in_the_place_of_a_needed_one_is_where_the_run_went_wrong(model: ProcessModel) -> None:
    run = pump(
        7,
        ("permit", {"pump": "P-007"}, {"granted": True, "rate": 7.5}),
        ("permit", {"pump": "P-007"}, {"granted": True, "rate": 7.5}),
        ("close", {"pump": "P-007", "rate": 7.5}, {"closed": True}),
        ("report", {"text": "the pump was closed as permitted"}, {"sent": True}),
    )
    assert kinds(run, model)[0] == ("instead", 0)


def test_an_argument_from_nowhere_is_not_one_from_another_field(model: ProcessModel) -> None:
    def closed_at(rate: float) -> Trajectory:
        run = pump(7)
        action = Action("close", {"pump": "P-007", "rate": rate})
        return Trajectory(
            "t",
            "g",
            run.task,
            (*run.steps[:2], Step(2, None, action, {"closed": True}), run.steps[3]),
            None,
            run.source,
        )

    assert kinds(closed_at(7.5), model) == []
    assert kinds(closed_at(15.0), model) == [("drawn_elsewhere", 2)]
    assert kinds(closed_at(9.9), model) == [("ungrounded", 2)]


def test_a_call_against_what_a_tool_said_is_found(model: ProcessModel) -> None:
    turns = [(s.action.tool, s.action.args, s.observation) for s in refused(7).steps if s.action is not None]
    turns[2] = ("close", {"pump": "P-007", "rate": 0.0}, {"closed": True})
    assert ("against", 2) in kinds(pump(7, *turns), model)  # type: ignore[arg-type]


def test_a_run_that_breaks_off_ends_at_its_last_step(model: ProcessModel) -> None:
    run = pump(7)
    assert kinds(Trajectory("t", "g", run.task, run.steps[:3], None, run.source), model) == [("unfinished", 2)]


def test_a_call_of_one_object_permits_nothing_on_another(model: ProcessModel) -> None:
    turns = [(s.action.tool, s.action.args, s.observation) for s in pump(7).steps if s.action is not None]
    other = ("permit", {"pump": "P-008"}, {"granted": True, "rate": 7.5})
    assert ("skipped", 2) in kinds(pump(7, turns[0], other, *turns[2:]), model)  # type: ignore[arg-type]


def test_an_outage_and_a_second_call_are_no_fault(model: ProcessModel) -> None:
    turns = [(s.action.tool, s.action.args, s.observation) for s in pump(7).steps if s.action is not None]
    outage = ("permit", {"pump": "P-007"}, {"error": "try again"})
    assert kinds(pump(7, turns[0], outage, *turns[1:]), model) == []  # type: ignore[arg-type]


def test_true_is_not_one() -> None:
    assert not same(True, 1)
    assert same(1, 1.0)


def test_healthy_detours_of_unseen_runs_raise_no_alarm_and_faults_do() -> None:
    from trajaudit.testbeds.support_desk.generator import generate

    conformance = Conformance()
    conformance.fit(list(generate("varied", 800, 3, "a")))
    for preset, bank in (("varied", "a"), ("varied", "b"), ("paper", "a")):
        runs = list(generate(preset, 160, 4, bank))
        found = dict(zip((run.id for run in runs), conformance.predict(runs), strict=True))
        for run in runs:
            assert run.label is not None
            acted = run.label.first is not None and run.label.first.component == "action"
            assert found[run.id].faulty is acted
        hits = [
            found[run.id].types[0] == run.label.first.type
            for run in runs
            if run.label and found[run.id].faulty and run.label.first
        ]
        assert all(hits)


def test_a_kept_model_gives_the_same_verdicts(tmp_path: Path) -> None:
    fitted, loaded = Conformance(), Conformance()
    fitted.fit([pump(n) for n in range(1, 60)], tmp_path)
    loaded.load(tmp_path / "process_model.json")
    run = pump(7)
    cut = Trajectory("t", "g", run.task, run.steps[:2], None, run.source)
    (a,), (b,) = fitted.predict([cut]), loaded.predict([cut])
    assert (a.spec_hash, a.score, a.step, a.types) == (b.spec_hash, b.score, b.step, b.types)


def test_nothing_is_judged_before_a_fit_and_no_fit_without_clean_runs() -> None:
    with pytest.raises(ValueError, match="expected a fitted model"):
        Conformance().predict([pump(1)])
    with pytest.raises(ValueError, match="expected clean runs"):
        Conformance().fit([])
