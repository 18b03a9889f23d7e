"""The oracle answers every family rightly, breaks no rule, and is no metronome."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from trajaudit.testbeds.asset_ops import Plant, check, witness
from trajaudit.testbeds.asset_ops.answers import expected, outcome_correct, reference, stated_in
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.testbeds.asset_ops.instances import ABSTAINING, FAMILIES, Instance, Unfit, Wish, instance_of
from trajaudit.testbeds.replay import replay
from trajaudit.trajectory import Source, Step, Trajectory

N = 20 * len(FAMILIES)


def question(number: int, seed: int, wording: str = "a") -> Instance:
    """Return a question of each family in turn, at a plant where things fail."""
    for attempt in range(200):
        try:
            wish = Wish(FAMILIES[number % len(FAMILIES)])
            return instance_of(f"{seed}|{wording}|{number}|{attempt}", str(seed), wording, wish, lively=True)
        except Unfit:
            continue
    raise AssertionError(f"question {number} fits no site")


def healthy(wording: str = "a", n: int = N) -> Iterator[tuple[Instance, Trajectory, bool]]:
    """Yield what the oracle does with question after question, and whether the outcome is the expected one."""
    for number in range(n):
        it = question(number, 3, wording)
        plant = Plant(it.world, it.key, it.troubles)
        steps = replay(oracle_script(it), plant)
        answer = steps[-1].action.args["answer"]
        source = Source("asset_ops", meta={"wording": wording, "family": it.family})
        run = Trajectory(f"r{number}", f"g{number}", it.goal, steps, answer, source, reference=reference(it))
        yield it, run, outcome_correct(it, plant, answer)


@pytest.mark.parametrize("wording", ["a", "b"])
def test_the_oracle_is_clean_and_right_on_every_family(wording: str):
    families: Counter[str] = Counter()
    for instance, run, right in healthy(wording):
        assert check(run) == [], run
        assert witness(run) == [], run
        assert right, run
        families[instance.family] += 1
    assert families == dict.fromkeys(FAMILIES, N // len(FAMILIES))
    assert len(FAMILIES) >= 12


def errors(run: Trajectory) -> list[str]:
    return [s.observation["error"] for s in run.steps if isinstance(s.observation, dict) and "error" in s.observation]


def tools(run: Trajectory) -> list[str]:
    return [step.action.tool for step in run.steps]


def test_healthy_runs_meet_passing_errors_vanished_files_empty_results_and_services_that_are_down():
    seen: Counter[str] = Counter()
    for instance, run, _ in healthy():
        text = " ".join(errors(run))
        seen["passing"] += "unavailable" in text and instance.family != "no_service"
        seen["vanished"] += "No such file" in text
        seen["empty"] += any(
            isinstance(s.observation, dict) and s.observation.get("total_observations") == 0 for s in run.steps
        )
        seen["down"] += text.count("tsfm_anomaly_detection: service temporarily unavailable") == 2
        seen["none"] += not text
    assert min(seen[kind] for kind in ("passing", "vanished", "empty", "down", "none")) > 5, seen


def test_where_there_is_no_answer_the_oracle_says_so():
    for instance, run, _ in healthy():
        if instance.family in ABSTAINING:
            kinds = {claim.kind for claim in stated_in(instance, run.final_answer)}
            assert kinds <= {"no_asset", "no_sensor", "no_data", "failed", "basis", "stored"}
            assert "invent nothing" in run.reference


def test_healthy_runs_of_one_family_differ_in_what_is_optional():
    verified: dict[str, set[bool]] = defaultdict(set)
    explained, listed, agents = set(), set(), defaultdict(set)
    for instance, run, _ in healthy():
        repeated = tools(run).count("jsonreader") - sum(tool in ("assets", "sensors") for tool in tools(run))
        verified[instance.family].add(repeated > 0)
        explained.add("Source:" in run.final_answer or "reports of" in run.final_answer)
        listed.add("assets" in tools(run))
        agents[instance.family].add(tuple(dict.fromkeys(step.agent for step in run.steps)))
    assert explained == listed == {True, False}
    for family in ("statistic", "trend", "limit", "anomalies", "forecast"):
        assert verified[family] == {True, False}
    assert ("Orchestrator", "IoT", "TSFM", "WO", "Summariser") in agents["inspection"]


def first(run: Trajectory, agent: str) -> int | None:
    return next((step.index for step in run.steps if step.agent == agent), None)


def test_tsfm_comes_after_iot_and_the_summariser_last():
    for _, run, _ in healthy():
        iot, tsfm = first(run, "IoT"), first(run, "TSFM")
        assert tsfm is None or (iot is not None and iot < tsfm)
        assert (run.steps[0].agent, run.steps[-1].agent) == ("Orchestrator", "Summariser")


def test_decisions_and_conclusions_fall_on_both_sides():
    sides: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(60 * len(FAMILIES)):
        instance = question(number, 5)
        for claim in expected(instance):
            for slot in ("side", "trend", "due"):
                if slot in claim.slots:
                    sides[slot][claim.slots[slot]] += 1
    assert sides.keys() == {"side", "trend", "due"}
    for counts in sides.values():
        assert len(counts) == 2
        assert min(counts.values()) > 15, counts


def test_the_reference_names_what_is_expected_and_no_run():
    run = next(run for run in generate("single", 200, 4) if run.source.meta["family"] == "limit")
    assert run.reference.startswith("The expected response should state the mean and its side of the limit (")
    clean = {run.group: run.reference for run in generate("single", 200, 4) if not run.label.faulty}
    pairs = [(clean[run.group], run.reference) for run in generate("single", 200, 4) if run.group in clean]
    assert all(one == other for one, other in pairs)


def test_a_step_records_agent_tool_call_and_observation():
    run = next(iter(generate(n=1)))
    step = run.steps[0]
    assert isinstance(step, Step)
    assert (step.agent, step.action.tool, step.observation) == ("Orchestrator", "plan", None)
    assert {task["agent"] for task in step.action.args["tasks"]} <= {"IoT", "FSMR", "TSFM", "WO"}
