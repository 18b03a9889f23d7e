"""Each fault is one edit that was replayed: known type, step and component, recomputed outcome, and nothing else."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from trajaudit._fields import dumps
from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.faults import edit_for
from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.testbeds.asset_ops.instances import Unfit, instance_of
from trajaudit.testbeds.asset_ops.plan import MIXTURE, PRESETS, slots, types_of
from trajaudit.testbeds.asset_ops.variants import OF_TYPE, VARIANTS, wish_for
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import carry_out, edited
from trajaudit.trajectory import Step

BY_NAME = {variant.name: variant for variant in VARIANTS}


def pair(name: str, family: str = "", start: int = 0) -> tuple[tuple[Step, ...], tuple[Step, ...], int]:
    """Return the steps of a clean run, of the same run with a fault, and the step of that fault."""
    variant = BY_NAME[name]
    for number in range(start, 400):
        draw = Draw(f"pair|{name}|{number}")
        try:
            wish = wish_for((variant,), draw)
            it = instance_of(f"pair|{number}", "7", "a", wish._replace(family=family or wish.family), lively=False)
            calls = oracle_script(it)
            changed, (fault,) = edited(calls, [edit_for(variant, it, calls, draw)])
            steps, positions = carry_out(changed, Plant(it.world, it.key, it.troubles))
        except Unfit:
            continue
        if fault.step in positions:
            clean, _ = carry_out(calls, Plant(it.world, it.key, it.troubles))
            return clean, steps, positions.index(fault.step)
    raise AssertionError(f"{name} fits nothing")


def test_every_type_of_trajel_has_two_variants_or_more():
    assert {name: len(variants) > 1 for name, variants in OF_TYPE.items()} == dict.fromkeys(TRAJEL.types, True)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_run_is_that_of_its_clean_twin_up_to_its_fault(name: str):
    clean, faulty, at = pair(name)
    assert faulty[at : at + 1] != clean[at : at + 1]
    if not name.startswith("procedural.") or name in ("procedural.readback", "procedural.late", "procedural.stop"):
        assert faulty[:at] == clean[:at]


def texts(steps: tuple[Step, ...]) -> str:
    return dumps([step.to_json() for step in steps])


def test_the_history_of_another_chiller_carries_through_to_an_honest_answer_about_it():
    clean, faulty, at = pair("scope.asset", "statistic")
    right, wrong = (steps[at].action.args["assetnum"] for steps in (clean, faulty))
    assert right != wrong
    assert wrong in faulty[-1].action.args["answer"]
    assert right not in faulty[-1].action.args["answer"]
    assert faulty[at + 1].observation != clean[at + 1].observation


def test_another_week_gives_other_anomalies_and_the_decision_follows_them():
    changed = 0
    for start in range(0, 40, 4):
        clean, faulty, at = pair("scope.week", "inspection", start)
        counts = [
            next(s.observation["total_anomalies"] for s in steps if s.action.tool == "tsfm_anomaly_detection")
            for steps in (clean, faulty)
        ]
        raised = ["create_work_order" in [s.action.tool for s in steps] for steps in (clean, faulty)]
        assert faulty[at].action.args["start"] != clean[at].action.args["start"]
        changed += raised[0] != raised[1]
        assert counts[0] != counts[1] or raised[0] == raised[1]
    assert changed


def test_an_invented_path_fails_like_a_vanished_file_and_is_recovered_from():
    clean, faulty, at = pair("referential.file")
    assert "No such file" in faulty[at].observation["error"]
    assert "No such file" in clean[at].observation["error"]
    assert faulty[at].action.args != clean[at].action.args
    assert faulty[-1].action.args == clean[-1].action.args


def test_a_wrong_report_is_passed_on_by_the_summary():
    clean, faulty, at = pair("factual.report", "statistic")
    right, wrong, passed_on = (
        re.search(r"\d+\.\d\d", steps[i].action.args["answer"])[0]
        for steps, i in ((clean, at), (faulty, at), (faulty, -1))
    )
    assert right != wrong == passed_on


def test_a_skipped_call_is_still_thought_of():
    clean, faulty, _ = pair("procedural.sensors")
    assert " ".join(s.thought for s in faulty) == " ".join(s.thought for s in clean)
    assert "sensors" not in [s.action.tool for s in faulty]


def test_calls_that_change_places_leave_their_thoughts():
    clean, faulty, at = pair("procedural.late")
    assert [s.thought for s in faulty] == [s.thought for s in clean]
    assert [s.action.tool for s in faulty[at : at + 2]] == ["create_work_order", "list_work_orders"]


def test_a_plan_that_puts_the_analysis_first_is_carried_out_and_fails():
    _, faulty, at = pair("procedural.plan")
    assert at == 0
    assert [task["agent"] for task in faulty[0].action.args["tasks"]] == ["TSFM", "IoT"]
    assert faulty[1].agent == "TSFM"
    assert any(
        "is required" in s.observation["error"]
        for s in faulty
        if isinstance(s.observation, dict) and "error" in s.observation
    )


@pytest.mark.parametrize(("preset", "wording"), [("single", "a"), ("varied", "b")])
def test_single_faults_come_equally_often_in_both_strata(preset: str, wording: str):
    runs = list(generate(preset, 700, 7, wording))
    assert Counter(run.label.faulty for run in runs) == {True: 500, False: 200}
    assert Counter(fault.type for run in runs for fault in run.label.faults) == dict.fromkeys(TRAJEL.types, 100)
    strata: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if run.label.faulty:
            strata[run.label.first.type].add(run.label.stratum)
    assert all(found == {"silent", "loud"} for found in strata.values()), strata
    assert {f.component for run in runs for f in run.label.faults} == {"thought", "action", "final_answer"}
    assert all(run.label.outcome_correct for run in runs if not run.label.faulty)


def test_every_prefix_of_a_set_is_a_stratified_sample():
    for preset, design in PRESETS.items():
        faulty = 0
        for position, slot in enumerate(slots(preset, 400, 3), start=1):
            faulty += slot.faulty
            assert abs(faulty - position * (1 - design.clean / design.window)) < design.clean + 1


def test_a_clean_run_is_of_an_instance_that_also_has_a_faulty_one_and_ids_tell_nothing():
    runs = list(generate("varied", 210, 9))
    faulty = {run.label.twin: run for run in runs if run.label.faulty}
    clean = [run for run in runs if not run.label.faulty]
    assert all(run.id in faulty and faulty[run.id].group == run.group for run in clean)
    assert len({run.id for run in runs}) == len(runs)
    for run in runs:
        assert run.id.startswith("ao-")
        assert not any(
            name in dumps({**run.to_json(), "label": None, "reference": None})
            for name in TRAJEL.types
            if name != "logical"
        )


def test_the_same_run_comes_out_whatever_was_made_before_it():
    whole = {run.id: run for run in generate("mixture", 76, 5)}
    for run in list(generate("mixture", 19, 5)):
        assert run.id not in whole or whole[run.id] == run
    assert list(generate(n=30, seed=0)) == list(generate(n=30, seed=0))
    assert next(generate(n=1, seed=0)).id != next(generate(n=1, seed=1)).id


def test_mixtures_have_the_type_sets_of_trajels_annotations():
    drawn = Counter(types_of("mixture", number, 7) for number in range(154))
    assert drawn == MIXTURE
    labels = Counter(name for types, count in MIXTURE.items() for name in types for _ in range(count))
    assert labels == {"procedural": 95, "factual": 65, "scope": 49, "logical": 21, "referential": 17}
    assert sum(count for types, count in MIXTURE.items() if len(types) == 1) == 79
    for types in (("factual", "procedural"), ("procedural", "scope")):
        together = sum(count for found, count in MIXTURE.items() if set(types) <= set(found))
        assert together == {"factual": 27, "procedural": 26}[types[0]]


def test_the_mixture_is_that_of_the_released_table(data_dir: Path):
    with open(data_dir / "trajel" / "annotations.csv", encoding="utf-8") as file:
        cells = [row["Human_Eval_Hallucination_Type_Clean"] for row in csv.DictReader(file)]
    sets = Counter(tuple(t for t in TRAJEL.types if t in cell.replace(" ", "").split(",")) for cell in cells if cell)
    assert sets == MIXTURE


def test_runs_of_a_mixture_carry_the_types_that_their_instance_was_drawn_for():
    made = generate("mixture", 95, 7)
    for slot, run in zip(slots("mixture", 95, 7), made, strict=True):
        types = Counter(fault.type for fault in run.label.faults)
        assert types == (Counter(types_of("mixture", slot.instance, 7)) if slot.faulty else {})
        assert [f.step for f in run.label.faults] == sorted(f.step for f in run.label.faults)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"preset": "variety"}, "preset: expected one of single, varied, mixture, got 'variety'"),
        ({"wording": "c"}, "wording: expected one of a, b, got 'c'"),
        ({"n": 0}, "n: expected at least 1 run, got 0"),
        ({"seed": "7"}, "seed: expected an integer, got '7'"),
        ({"n": True}, "n: expected an integer, got True"),
    ],
)
def test_a_bad_argument_is_named_with_what_is_allowed(arguments: dict, message: str):
    with pytest.raises(ValueError, match=message):
        generate(**arguments)


def test_a_silent_fault_leaves_the_expected_value_in_the_answer():
    silent = 0
    for run in generate("single", 700, 2):
        if run.source.meta["family"] == "statistic" and run.label.stratum == "silent":
            silent += 1
            assert re.search(r"value: (\d+\.\d\d)", run.reference)[1] in run.final_answer
    assert silent > 10
