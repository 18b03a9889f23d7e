"""The plant for a model that plays all the parts: the turns are the episode's, the calls the model's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajaudit.testbeds.asset_ops.episodes import PlantEpisode, question
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.instances import FAMILIES
from trajaudit.testbeds.asset_ops.rules import check
from trajaudit.testbeds.asset_ops.world import TOOLS
from trajaudit.testbeds.replay import carry_out, replay
from trajaudit.trajectory import Action, Source, Step, Trajectory

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["agent", "task"]), inner, max_size=2),
    max_leaves=4,
)


class Recorded:
    """An environment that hands calls on to an episode and notes who acted, on which tools, at each."""

    def __init__(self, episode: PlantEpisode) -> None:
        self.episode = episode
        self.acted: list[str] = []

    def call(self, tool: str, args: dict) -> object:
        assert not self.episode.done
        assert tool in {offered.name for offered in self.episode.tools}, (self.episode.agent, tool)
        self.acted.append(self.episode.agent)
        return self.episode.call(tool, args)


@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_the_oracles_run_is_played_turn_by_turn_to_its_answer(number: int) -> None:
    episode = PlantEpisode(question(3, number, "a"))
    world = Recorded(episode)
    steps, _ = carry_out(oracle_script(question(3, number, "a")), world)
    assert world.acted == [step.agent for step in steps]
    assert episode.done
    answer = steps[-1].action
    assert answer is not None
    assert episode.ending(None).final_answer == (answer.args or {})["answer"]


def test_every_agent_is_told_who_it_is_and_its_part() -> None:
    episode = PlantEpisode(question(3, 0, "a"))
    assert "You are now Orchestrator" in episode.brief
    tasks = [{"agent": "IoT", "task": "List them."}, {"agent": "Nobody", "task": "x"}, {"agent": "WO"}, "no task"]
    assert episode.call("plan", {"tasks": tasks}) is None
    assert "You are now IoT" in episode.brief
    assert "Your part: List them." in episode.brief
    assert episode.call("create_work_order", {}) == {"error": "create_work_order: field 'site_name' is required"}
    assert episode.agent == "IoT", "a call outside the mandate is answered, and the turn stays"
    episode.call("finish", {"answer": "They are listed."})
    assert episode.agent == "Summariser", "what names no agent that exists is no task"
    episode.call("finish", {"answer": "Here they are."})
    assert episode.done
    assert episode.ending(None) == ("Here they are.", None)


@st.composite
def calls(draw: st.DrawFn, real: list[tuple[str, dict]]) -> tuple[str, dict]:
    """A call that the oracle would make, with some of its arguments replaced by anything or left out."""
    tool, args = draw(st.sampled_from(real))
    spoilt = {name: draw(st.just(value) | ANYTHING) for name, value in args.items() if draw(st.integers(0, 4))}
    return draw(st.just(tool) | st.sampled_from([*TOOLS, "fly"])), spoilt


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_call_of_an_agent_breaks_the_plant_or_the_rules(data: st.DataObject) -> None:
    it = question(3, data.draw(st.integers(0, len(FAMILIES) - 1)), "a")
    real = [
        (step.action.tool or "", step.action.args or {})
        for step in replay(oracle_script(it), PlantEpisode(it).plant)
        if step.action is not None
    ]
    begun = real[: data.draw(st.integers(0, len(real)))]
    episode, steps = PlantEpisode(it), list[Step]()
    for tool, args in [*begun, *data.draw(st.lists(calls(real), min_size=1, max_size=6))]:
        if not episode.done:
            agent = episode.agent
            thought = data.draw(st.sampled_from([None, "Why not.", it.goal]))
            steps.append(Step(len(steps), thought, Action(tool, args), episode.call(tool, args), agent))
    run = Trajectory("t", "g", episode.task, tuple(steps), episode.ending(None).final_answer, Source("x"))
    assert all(0 <= violation.step < len(steps) for violation in check(Trajectory.from_json(run.to_json())))


def test_a_seed_gives_the_same_questions_and_all_families_in_turn() -> None:
    one = [question(5, number, "b") for number in range(len(FAMILIES))]
    assert [it.family for it in one] == list(FAMILIES)
    assert [it.goal for it in one] == [question(5, number, "b").goal for number in range(len(FAMILIES))]
    assert one[0].goal != question(6, 0, "b").goal
