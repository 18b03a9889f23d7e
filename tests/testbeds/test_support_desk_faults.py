"""Each fault is one edit that was replayed: known type, known step, recomputed outcome, and nothing else."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from trajaudit._fields import dumps
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.probes import thoughts_of
from trajaudit.testbeds.support_desk import generate
from trajaudit.testbeds.support_desk.generator import PRESETS, make
from trajaudit.testbeds.support_desk.plan import CLEAN, FAULTS, slots
from trajaudit.trajectory import Trajectory

DATA = Path(os.environ.get("TRAJAUDIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "trajectory_judge"
DESIGNS = [("paper", "a"), ("varied", "a"), ("varied", "b")]


def by_twin(runs: list[Trajectory]) -> list[tuple[Trajectory, Trajectory]]:
    """Return (faulty run, clean twin) pairs whose twin is in the set."""
    clean = {run.id: run for run in runs if not run.label.faulty}
    pairs = [(run, clean[run.label.twin]) for run in runs if run.label.twin in clean]
    assert len(pairs) > len(runs) / 4
    return pairs


def test_four_hundred_paper_runs_have_the_published_strata_and_types():
    runs = list(generate())
    assert Counter(run.label.stratum for run in runs) == {"clean": 100, "silent": 175, "loud": 125}
    assert Counter(run.label.first.type for run in runs if run.label.faulty) == dict.fromkeys(SUPPORT_DESK.types, 50)
    skipped = Counter(
        run.label.stratum for run in runs if run.label.faulty and run.label.first.type == "skipped_precondition"
    )
    assert skipped == {"silent": 25, "loud": 25}


@pytest.mark.skipif(not DATA.is_dir(), reason="the published trajectories are not at hand")
def test_the_paper_preset_gives_faults_to_the_same_instances_as_the_published_set():
    published: dict[str, set[int]] = defaultdict(set)
    places: dict[str, set[tuple[int, bool]]] = defaultdict(set)
    with open(DATA / "trajectories.jsonl") as file:
        for item in map(json.loads, file):
            label = item["label"]
            name = label["failure_type"] or CLEAN
            published[name].add(int(item["instance_id"][-5:]))
            places[name].add((label["failure_step"], label["outcome_correct"]))
    ours: dict[str, set[int]] = defaultdict(set)
    our_places: dict[str, set[tuple[int | None, bool]]] = defaultdict(set)
    for slot, run in zip(slots("paper", 400, 7), generate("paper", 400, 7), strict=True):
        ours[slot.fault].add(slot.instance)
        first = run.label.first
        our_places[slot.fault].add((first.step if first else None, run.label.outcome_correct))
    assert ours == published
    assert our_places == places


@pytest.mark.skipif(not DATA.is_dir(), reason="the published trajectories are not at hand")
def test_the_paper_preset_has_the_published_observation_shapes():
    def shapes(steps):
        return {
            (call["tool"], tuple(sorted(call["args"])), observation["ok"], tuple(sorted(observation["data"])))
            for call, observation in steps
        }

    published, ours = set(), set()
    with open(DATA / "trajectories.jsonl") as file:
        for item in map(json.loads, file):
            published |= shapes((step["call"], step["observation"]) for step in item["steps"])
    for run in generate():
        ours |= shapes((step.action.to_json(), step.observation) for step in run.steps)
    assert ours == published


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_every_observation_is_what_a_fresh_world_answers_to_the_calls_of_the_run(preset: str, wording: str):
    design = PRESETS[preset]
    for slot in slots(preset, 400, 3):
        run = make(preset, slot, 3, wording)
        desk = design.desk(design.instance(3, slot.instance, wording))
        for step in run.steps:
            assert step.observation == desk.call(step.action.tool, step.action.args)


def test_a_single_paper_edit_leaves_every_call_before_the_fault_as_it_was():
    runs = list(generate(n=400))
    for run, twin in by_twin(runs):
        step = run.label.first.step
        kept = step if run.label.first.type != "premature_stop" else step + 1
        assert run.steps[:kept] == twin.steps[:kept]
        assert run.steps != twin.steps


def test_an_edit_of_the_varied_preset_changes_only_what_the_fault_is_about():
    changed = Counter()
    for run, twin in by_twin(list(generate("varied", 800, 4))):
        fault = run.label.first.type
        ours = [(s.action.tool, dumps(s.action.args)) for s in run.steps if s.action.tool != "reply"]
        theirs = [(s.action.tool, dumps(s.action.args)) for s in twin.steps if s.action.tool != "reply"]
        gone, new = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
        if fault in ("wrong_tool", "hallucinated_argument", "ignored_observation"):
            assert (sum(gone.values()), sum(new.values())) == (1, 1)
        elif fault == "skipped_precondition":
            tools = sorted(tool for tool, _ in gone.elements())
            assert tools in (["check_eligibility"], ["check_eligibility", "issue_refund"])
            assert [tool for tool, _ in new.elements()] == tools[1:]
        elif fault == "premature_stop":
            assert not new
            assert ours == theirs[: len(ours)]
        else:
            assert not gone
            assert not new
            assert run.final_answer != twin.final_answer
        changed[fault] += 1
    assert min(changed.values()) > 50
    assert len(changed) == 6


def test_thoughts_of_a_varied_faulty_run_are_those_of_its_clean_twin_to_the_letter():
    for cascades in (0.0, 1.0):
        for run, twin in by_twin(list(generate("varied", 800, 4, cascades=cascades))):
            assert thoughts_of(run) == thoughts_of(twin)


def test_a_reply_after_a_fault_states_what_really_happened():
    for run in generate("varied", 800, 2):
        paid = [s.observation["data"] for s in run.steps if s.action.tool == "issue_refund" and s.observation["ok"]]
        if run.label.faulty and run.label.first.type == "premature_stop":
            continue
        numbers = re.sub(r"[^\d\n]", "", run.final_answer)
        for data in paid:
            digits = {"JPY": 0, "KWD": 3}.get(data["currency"], 2)
            assert str(round(data["refunded"] * 10**digits)) in numbers


def test_in_the_paper_preset_a_wrong_refund_is_echoed_by_the_reply_that_was_written_before():
    echoes = 0
    for run in generate(n=400):
        if run.label.stratum == "loud" and run.label.first.type != "premature_stop":
            paid = next(s.observation["data"]["refunded_eur"] for s in run.steps if s.action.tool == "issue_refund")
            assert f"EUR {paid:.2f}" not in run.final_answer
            echoes += 1
    assert echoes == 75


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_a_premature_stop_sends_no_reply_and_still_has_a_last_word(preset: str, wording: str):
    stopped = [
        r for r in generate(preset, 400, 1, wording) if r.label.faulty and r.label.first.type == "premature_stop"
    ]
    assert len(stopped) == 50
    for run in stopped:
        assert "reply" not in [step.action.tool for step in run.steps]
        assert run.label.first.step == len(run.steps) - 1
        assert run.final_answer
        assert run.label.outcome_correct is False


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_components_and_silent_types_are_as_the_faults_define_them(preset: str, wording: str):
    for run in generate(preset, 400, 8, wording):
        for fault in run.label.faults:
            assert fault.component == ("final_answer" if fault.type == "unsupported_claim" else "action")
            if fault.type in ("wrong_tool", "unsupported_claim"):
                assert run.label.outcome_correct
            if fault.type == "ignored_observation":
                assert not run.label.outcome_correct


def test_each_varied_fault_is_committed_in_several_ways():
    ways = defaultdict(set)
    for run in generate("varied", 2000, 9):
        for fault in run.label.faults:
            action = run.steps[fault.step].action
            ways[fault.type].add((action.tool, run.steps[fault.step].observation["ok"], run.label.stratum))
    assert {tool for tool, _, _ in ways["wrong_tool"]} == {"get_customer", "lookup_order", "check_eligibility"}
    assert {"get_policy", "issue_refund", "lookup_order", "get_customer", "check_eligibility"} <= {
        tool for tool, _, _ in ways["hallucinated_argument"]
    }
    assert {stratum for _, _, stratum in ways["hallucinated_argument"]} == {"silent", "loud"}
    assert {ok for tool, ok, _ in ways["hallucinated_argument"] if tool == "get_policy"} == {True, False}
    assert {tool for tool, _, _ in ways["ignored_observation"]} == {"issue_refund", "escalate"}
    assert {stratum for _, _, stratum in ways["skipped_precondition"]} == {"silent", "loud"}
    assert len({tool for tool, _, _ in ways["premature_stop"]}) >= 4


def test_harmless_detours_come_with_clean_and_faulty_runs_at_the_same_rate():
    failed, length = defaultdict(list), defaultdict(list)
    for run in generate("varied", 4000, 6):
        name = run.label.first.type if run.label.faulty else CLEAN
        failed[name].append(any("temporarily" in (step.observation["error"] or "") for step in run.steps))
        length[name].append(len(run.steps))
    rate = {name: sum(values) / len(values) for name, values in failed.items()}
    assert all(abs(rate[name] - rate[CLEAN]) < 0.06 for name in FAULTS if name != "premature_stop"), rate
    mean = {name: sum(values) / len(values) for name, values in length.items()}
    assert all(
        abs(mean[name] - mean[CLEAN]) < 0.5 for name in FAULTS if name not in ("premature_stop", "skipped_precondition")
    )


def test_a_replaced_call_leaves_a_run_as_long_as_its_twin():
    for run, twin in by_twin(list(generate("varied", 800, 4))):
        if run.label.first.type not in ("premature_stop", "skipped_precondition"):
            assert len(run.steps) == len(twin.steps)


def test_a_cascade_labels_all_of_its_faults():
    runs = [run for run in generate("varied", 800, 3, cascades=1.0) if run.label.faulty]
    counts = Counter(len(run.label.faults) for run in runs)
    assert set(counts) <= {1, 2, 3}
    assert counts[1] < len(runs) * 0.05  # where a run stops so early that no other fault fits before it
    assert min(counts[2], counts[3]) > len(runs) * 0.2
    for run in runs:
        steps = [fault.step for fault in run.label.faults]
        assert steps == sorted(set(steps))
    half = [run for run in generate("varied", 1600, 3, cascades=0.5) if run.label.faulty]
    assert 0.42 < sum(len(run.label.faults) > 1 for run in half) / len(half) < 0.55


@pytest.mark.parametrize(("preset", "wording"), DESIGNS)
def test_ids_are_opaque_unique_and_grouped_by_instance(preset: str, wording: str):
    runs = list(generate(preset, 800, 0, wording))
    assert len({run.id for run in runs}) == 800
    assert all(re.fullmatch(r"sd-[0-9a-f]{16}", value) for run in runs for value in (run.id, run.group))
    goals = defaultdict(set)
    for run in runs:
        goals[run.group].add(run.task)
        visible = dumps({**run.to_json(), "label": None, "source": None})
        assert not any(name in visible for name in (*FAULTS, "clean", "silent", "loud"))
        assert not any(name in dumps(run.source.to_json()) for name in (*FAULTS, "clean", "silent", "loud", "step"))
    assert all(len(tasks) == 1 for tasks in goals.values())


def test_a_faulty_run_names_the_id_of_its_clean_twin_even_where_that_run_is_not_in_the_set():
    runs = list(generate(n=400))
    present = {run.id for run in runs}
    far = [run for run in runs if run.label.faulty and run.label.twin not in present]
    assert far
    everything = {run.id for run in generate(n=2400)}
    assert all(run.label.twin in everything for run in far)


def test_a_record_survives_its_json():
    for preset in ("paper", "varied"):
        for run in generate(preset, 64):
            assert Trajectory.from_json(json.loads(dumps(run.to_json()))) == run
