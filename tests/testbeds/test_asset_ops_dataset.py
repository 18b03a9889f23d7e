"""The plant as a dataset, its episodes for agents from outside, and what its runs give away unread."""

from __future__ import annotations

import pytest

from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.asset_ops import episode, generate, tool_specs
from trajaudit.testbeds.asset_ops.dataset import asset_ops
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.instances import FAMILIES
from trajaudit.testbeds.asset_ops.plan import PRESETS, slots
from trajaudit.testbeds.probes import probe
from trajaudit.testbeds.replay import replay


def test_the_dataset_brings_its_procedure_its_taxonomy_and_its_rules():
    data = asset_ops(n=5)
    assert (data.taxonomy, data.rules, data.size) == (TRAJEL, "asset_ops", 5)
    assert [run.id for run in data] == [run.id for run in data.prefix(5)] == [run.id for run in generate(n=5)]
    assert "TSFM works on a history that IoT has fetched before" in data.procedure.text
    assert all(agent in data.procedure.text for agent in ("Orchestrator", "IoT", "FSMR", "TSFM", "WO", "Summariser"))
    with pytest.raises(ValueError, match="wording: expected one of a, b"):
        asset_ops(wording="c")  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", PRESETS)
def test_no_run_is_made_twice_whatever_the_size_of_the_set(preset: str):
    for n in range(1, 400):
        made = list(slots(preset, n, seed=7))
        assert len(set(made)) == len(made) == n


def test_ids_questions_and_thoughts_give_nothing_away():
    runs = list(generate("varied", 1050, 7))
    for result in probe(runs, ("ids", "goal", "thoughts")):
        assert not result.leaks, result
        assert result.high - result.low < 0.12


def test_an_episode_is_a_question_and_a_plant_that_answers_real_calls():
    one = episode(FAMILIES.index("sensor_list"), seed=4)
    site, asset = one.instance.site, one.instance.asset
    assert asset in one.task
    listed = one.call("sensors", {"site_name": site, "assetnum": asset})
    assert "service temporarily" in one.text(listed) or listed["total_sensors"] >= 5
    assert "plan" in [spec["function"]["name"] for spec in tool_specs("Orchestrator")]
    assert one.group.startswith("ao-")


def test_an_answer_in_any_words_is_right_if_it_holds_the_facts_and_the_orders_are_as_due():
    for number in range(2 * len(FAMILIES)):
        one = episode(number, seed=4)
        steps = replay(oracle_script(one.instance), one.plant)
        answer = steps[-1].action.args["answer"]
        assert one.outcome_correct(f"Well now, this is it: {answer}") in (True, None)
        assert one.outcome_correct(answer) is True
        unknown = one.instance.family == "no_service"  # nothing in particular has to be named there
        assert one.outcome_correct("I could not find out.") is (None if unknown else False)
    order = episode(FAMILIES.index("order"), seed=4)
    slots = f"{order.instance.asset} {order.instance.code} {order.instance.priority}"
    assert not order.outcome_correct(f"Raised: {slots}")
