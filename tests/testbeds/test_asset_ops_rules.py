"""The rules of the plant, each with a run that it alone objects to; what they cover is measured and pinned."""

from __future__ import annotations

import pytest

from trajaudit.testbeds.asset_ops import check, coverage, generate
from trajaudit.trajectory import Action, Source, Step, Trajectory

TASK = "Report the mean of Flow Rate on Pump 4 at site MAIN during the week from 2020-04-27."
PUMP = {"site_name": "MAIN", "assetnum": "Pump 4"}
PLAN = ("Orchestrator", "plan", {"tasks": [{"agent": "IoT", "task": "Obtain Flow Rate of Pump 4"}]}, None)
SENSORS = ("IoT", "sensors", PUMP, {"total_sensors": 5, "file_path": "/tmp/cbmdir/01.json"})
READ = ("IoT", "jsonreader", {"file_name": "/tmp/cbmdir/01.json"}, ["Flow Rate", "Motor Current"])
WEEK = {**PUMP, "sensor": "Flow Rate", "start": "2020-04-27"}
HISTORY = ("IoT", "history", WEEK, {**WEEK, "total_observations": 168, "file_path": "/tmp/cbmdir/02.json"})
SERIES = {"file_name": "/tmp/cbmdir/02.json", "column": "Flow Rate"}
STATS = ("IoT", "statistics", SERIES, {"mean": 63.51, "maximum": 71.2, "unit": "l/s"})
REPORT = ("IoT", "finish", {"answer": "The mean is 63.51 l/s."}, None)
SUMMARY = ("Summariser", "finish", {"answer": "It is 63.51 l/s on Pump 4."}, None)
HEALTHY = (PLAN, SENSORS, READ, HISTORY, STATS, REPORT, SUMMARY)


def fired(*calls: tuple, task: str = TASK) -> list[tuple[str, int, str]]:
    steps = tuple(Step(i, None, Action(tool, args), seen, agent) for i, (agent, tool, args, seen) in enumerate(calls))
    return [(v.rule, v.step, v.type) for v in check(Trajectory("t", "g", task, steps, "", Source("test")))]


def changed(at: int, *new: tuple) -> list[tuple]:
    """Return the healthy run with the call at ``at`` replaced by others, or left out."""
    return [*HEALTHY[:at], *new, *HEALTHY[at + 1 :]]


def test_a_healthy_run_breaks_no_rule():
    assert fired(*HEALTHY) == []


def test_a_path_from_nowhere_is_referential_and_its_error_does_not_ground_it():
    lost = (
        "IoT",
        "statistics",
        {**SERIES, "file_name": "/tmp/cbmdir/99.json"},
        {"error": "No such file: /tmp/cbmdir/99.json"},
    )
    assert fired(*changed(4, lost, STATS)) == [("grounded_names", 4, "referential")]
    assert fired(*changed(4, lost, lost, STATS)) == [("grounded_names", 4, "referential")]


@pytest.mark.parametrize("named", ["Pump 9", "Seal Water Flow", "cavitation", "WO-12345", "/tmp/cbmdir/03.json"])
def test_a_name_in_an_answer_that_was_never_shown_is_referential(named: str):
    said = ("IoT", "finish", {"answer": f"The mean is 63.51 l/s, see {named}."}, None)
    assert fired(*changed(5, said)) == [("grounded_names", 5, "referential")]


def test_a_number_that_was_never_observed_is_factual_where_it_first_stands():
    wrong = ("IoT", "finish", {"answer": "The mean is 64.51 l/s."}, None)
    echo = ("Summariser", "finish", {"answer": "It is 64.51 l/s on Pump 4."}, None)
    assert fired(*HEALTHY[:5], wrong, echo) == [("observed_values", 5, "factual")]


def test_percentages_are_worked_out_and_never_asked_for():
    said = ("IoT", "finish", {"answer": "The mean is 63.51 l/s, 12.1 % below the maximum of 71.20 l/s."}, None)
    assert fired(*changed(5, said)) == []


def test_a_wrong_conclusion_about_right_numbers_is_not_seen():
    said = ("IoT", "finish", {"answer": "63.51 l/s lies above 71.20 l/s."}, None)
    assert fired(*changed(5, said)) == []


def test_a_history_before_the_sensors_are_listed_is_procedural():
    assert fired(PLAN, HISTORY, STATS, REPORT, SUMMARY) == [("sensors_before_history", 1, "procedural")]


def test_a_listing_that_failed_is_none():
    refused = ("IoT", "sensors", PUMP, {"error": "sensors: service temporarily unavailable"})
    assert fired(PLAN, refused, HISTORY, STATS, REPORT, SUMMARY) == [("sensors_before_history", 2, "procedural")]


def test_a_planned_task_left_undone_is_procedural_at_the_final_answer():
    assert fired(PLAN, SENSORS, READ, HISTORY, STATS, SUMMARY) == [("tasks_done", 5, "procedural")]


def test_an_analysis_before_the_data_is_procedural_once_in_the_plan_or_in_the_call():
    tasks = [{"agent": "TSFM", "task": "analyse"}, {"agent": "IoT", "task": "fetch"}]
    detect = ("TSFM", "tsfm_anomaly_detection", {"target_column": "Flow Rate"}, {"error": "dataset_path is required"})
    nothing = ("TSFM", "finish", {"answer": "No result."}, None)
    rest = (detect, nothing, SENSORS, READ, HISTORY, (*REPORT[:2], {"answer": "Fetched."}, None))
    summary = ("Summariser", "finish", {"answer": "No result."}, None)
    backwards = ("Orchestrator", "plan", {"tasks": tasks}, None)
    forwards = ("Orchestrator", "plan", {"tasks": tasks[::-1]}, None)
    assert fired(backwards, *rest, summary) == [("data_planned_first", 0, "procedural")]
    assert fired(forwards, *rest, summary) == [("data_before_analysis", 1, "procedural")]


def test_a_tool_of_another_agent_is_out_of_scope():
    assert fired(*changed(4, ("WO", *STATS[1:]))) == [("own_tools", 4, "scope")]


def test_another_asset_that_was_seen_and_another_week_are_out_of_scope():
    listing = ("IoT", "jsonreader", {"file_name": "/tmp/cbmdir/01.json"}, ["Flow Rate", "Pump 9"])
    other = ("IoT", "history", {**WEEK, "assetnum": "Pump 9"}, HISTORY[3])
    assert fired(PLAN, SENSORS, listing, other, STATS, REPORT, SUMMARY) == [("asked_for", 3, "scope")]
    later = ("IoT", "history", {**WEEK, "start": "2020-05-04"}, HISTORY[3])
    assert fired(*changed(3, later)) == [("asked_for", 3, "scope")]


def test_orders_models_and_failure_modes_are_looked_up_before_they_are_used():
    task = "Raise a priority 2 work order coded PU-CAV on Pump 4 at site MAIN for cavitation with ttm_96_28."
    order = {**PUMP, "failure_code": "PU-CAV", "priority": 2, "description": "Suspected cavitation."}
    raised = ("WO", "create_work_order", order, {"wo_id": "WO-11111"})
    mapping = {"asset_name": "Pump 4", "failure_modes": ["cavitation"], "sensors": []}
    mapped = ("FSMR", "get_sensor_mapping", mapping, {"mapping": {}})
    plan = ("Orchestrator", "plan", {"tasks": []}, {"error": "empty"})
    end = ("Summariser", "finish", {"answer": "Done."}, None)
    assert fired(plan, raised, end, task=task) == [("orders_before_raising", 1, "procedural")]
    assert fired(plan, mapped, end, task=task) == [("modes_before_mapping", 1, "procedural")]


def test_a_message_says_what_was_expected_and_given():
    steps = tuple(Step(i, None, Action(t, a), s, g) for i, (g, t, a, s) in enumerate(changed(4, ("WO", *STATS[1:]))))
    (violation,) = check(Trajectory("t", "g", TASK, steps, "", Source("test")))
    assert violation.message == "WO: statistics is outside its mandate"


def test_arguments_of_a_strange_shape_are_judged_and_do_not_raise():
    strange = ("IoT", "history", {"assetnum": {"a": 1}, "sensor": [["x"]], "start": None}, {"error": "wrong type"})
    assert fired(*changed(4, strange, STATS)) == [("grounded_names", 4, "referential")]


def test_a_run_without_tool_calls_is_refused_by_name():
    talk = Trajectory("t9", "g", "goal", (Step(0, "hm", Action(text="hello"), "hi"),), "", Source("test"))
    with pytest.raises(ValueError, match=r"t9: steps\[0\]: expected a tool call"):
        check(talk)


PINNED = {
    ("varied", "a"): {"factual": 0.82, "logical": 0.0, "procedural": 0.88, "referential": 1.0, "scope": 0.565},
    ("varied", "b"): {"factual": 0.835, "logical": 0.0, "procedural": 0.89, "referential": 1.0, "scope": 0.615},
    ("mixture", "a"): {"factual": 0.839, "logical": 0.0, "procedural": 0.816, "referential": 1.0, "scope": 0.705},
}
"""The share of each type's faults that the rules name with type and step, over the first 1,400 runs of seed 3."""


@pytest.mark.parametrize(("preset", "wording"), list(PINNED))
def test_the_rules_see_every_invented_name_no_wrong_conclusion_and_parts_of_the_rest(preset: str, wording: str):
    runs = list(generate(preset, 1400, 3, wording))
    assert {name: round(share, 3) for name, share in coverage(runs).items()} == PINNED[preset, wording]
    for run in runs:
        labelled = {(fault.type, fault.step) for fault in run.label.faults}
        assert {(violation.type, violation.step) for violation in check(run)} <= labelled
