"""The desk for an agent that acts by itself: it answers anything, and the rules read anything that was done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajaudit.testbeds.support_desk import check, generate
from trajaudit.testbeds.support_desk.episodes import support_desk, tools
from trajaudit.testbeds.support_desk.generator import PRESETS
from trajaudit.testbeds.support_desk.world import TOOLS
from trajaudit.trajectory import Action, Source, Step, Trajectory

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
NAMES = ("email", "order_id", "sku", "amount", "amount_eur", "currency", "reason", "text")


@st.composite
def calls(draw: st.DrawFn, real: dict[str, list]) -> tuple[str, dict]:
    tool = draw(st.sampled_from([*TOOLS, "fly"]))
    values = {
        name: draw(ANYTHING | st.sampled_from(real.get(name, [""]))) for name in draw(st.sets(st.sampled_from(NAMES)))
    }
    return tool, values


@pytest.mark.parametrize("preset", ["paper", "varied"])
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_call_of_an_agent_breaks_the_desk_or_the_rules(preset: str, data: st.DataObject) -> None:
    episode = next(support_desk(preset=preset, n=1).episodes())  # type: ignore[arg-type]
    instance = episode.instance  # type: ignore[attr-defined]
    known = {
        "order_id": [o.order_id for o in instance.orders],
        "email": [instance.email],
        "sku": [instance.orders[0].sku],
    }
    steps: list[Step] = []
    begun = [(call.tool, call.args) for call in PRESETS[preset].script(instance)[: data.draw(st.integers(0, 9))]]
    known |= {"amount": [1e308, 10**400, [1], True], "amount_eur": [1e308, 10**400, [1], True]}
    for tool, args in [*begun, *data.draw(st.lists(calls(known), min_size=1, max_size=6))]:
        args = args(steps) if callable(args) else args
        observation = episode.call(tool, args)
        steps.append(Step(len(steps), None, Action(tool, args), observation))
        assert set(observation) == {"ok", "data", "error"}
    answer, correct = episode.ending(None)
    run = Trajectory("t", episode.group, episode.task, tuple(steps), answer, Source("x"))
    assert all(0 <= violation.step < len(steps) for violation in check(run))
    assert isinstance(correct, bool)
    Trajectory.from_json(run.to_json())


@pytest.mark.parametrize("preset", ["paper", "varied"])
def test_a_seed_gives_the_same_requests_as_the_generated_set_and_more_go_on_where_fewer_ended(preset: str) -> None:
    few, many = (list(support_desk(preset=preset, n=n, seed=3).episodes()) for n in (4, 16))  # type: ignore[arg-type]
    assert [(e.id, e.task) for e in few] == [(e.id, e.task) for e in many[:4]]
    assert len({e.id for e in many}) == 16
    generated = {run.group: run.task for run in generate(preset, 64, 3)}
    shared = [e for e in many if e.group in generated]
    assert len(shared) > 8
    assert all(generated[e.group] == e.task for e in shared)


@pytest.mark.parametrize("preset", ["paper", "varied"])
def test_the_tools_are_told_with_the_arguments_that_the_oracle_uses(preset: str) -> None:
    told = {tool.name: set(tool.parameters["properties"]) for tool in tools(preset)}
    assert tuple(told) == TOOLS
    for run in generate(preset, 8):
        for step in run.steps:
            assert step.action is not None
            if run.label is not None and not run.label.faulty:
                assert set(step.action.args or {}) == told[step.action.tool or ""]
