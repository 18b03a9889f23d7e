"""A set of any size is a stratified sample in any prefix, is the same every time, and is never held in memory."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections import Counter, defaultdict

import pytest

from trajaudit.testbeds.support_desk import generate
from trajaudit.testbeds.support_desk.instances import STRATA
from trajaudit.testbeds.support_desk.plan import CLEAN, FAULTS, slots
from trajaudit.testbeds.support_desk.varied_instances import target_stratum

SHARES = {CLEAN: 1 / 4, **dict.fromkeys(FAULTS, 1 / 8)}


@pytest.mark.parametrize("preset", ["paper", "varied"])
@pytest.mark.parametrize(("n", "seed"), [(400, 7), (400, 0), (1001, 3)])
def test_in_every_prefix_each_fault_is_within_one_run_of_its_share(preset: str, n: int, seed: int):
    counts: Counter[str] = Counter()
    for length, slot in enumerate(slots(preset, n, seed), start=1):
        counts[slot.fault] += 1
        for name, share in SHARES.items():
            assert abs(counts[name] - share * length) < 1, (length, counts)


@pytest.mark.parametrize("seed", [0, 7, 19])
def test_in_every_prefix_silent_and_loud_skipped_checks_are_within_one_of_their_share(seed: int):
    counts: Counter[int] = Counter()
    for length, slot in enumerate(slots("paper", 400, seed), start=1):
        if slot.fault == "skipped_precondition":
            counts[slot.instance % 6] += 1
        assert abs(counts[0] - length / 16) < 1
        assert abs(counts[1] - length / 16) < 1


def test_the_clean_silent_and_loud_shares_hold_in_every_prefix_of_the_paper_set():
    counts: Counter[str] = Counter()
    for length, run in enumerate(generate(n=400, seed=7), start=1):
        counts[run.label.stratum] += 1
        for name, share in (("clean", 1 / 4), ("silent", 7 / 16), ("loud", 5 / 16)):
            assert abs(counts[name] - share * length) <= 3, (length, counts)


@pytest.mark.parametrize("seed", [0, 7])
def test_within_a_fault_every_prefix_takes_the_instance_strata_in_turn(seed: int):
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for slot in slots("paper", 400, seed):
        counts[slot.fault][slot.instance % 6] += 1
        if slot.fault not in ("skipped_precondition", "ignored_observation"):
            seen = [counts[slot.fault][stratum] for stratum in range(6)]
            assert max(seen) - min(seen) <= 1


@pytest.mark.parametrize("n", [1, 2, 7, 8, 24, 100, 401])
@pytest.mark.parametrize("preset", ["paper", "varied"])
def test_a_set_of_any_size_has_its_shares_and_no_run_twice(preset: str, n: int):
    plan = list(slots(preset, n, 5))
    assert len(plan) == len(set(plan)) == n
    counts = Counter(slot.fault for slot in plan)
    assert all(abs(counts[name] - share * n) < 1 for name, share in SHARES.items())
    assert len(list(generate(preset, n, 5))) == n


@pytest.mark.parametrize("n", [8, 48, 400])
def test_the_paper_preset_uses_the_first_instances_of_every_stratum_that_allows_a_fault(n: int):
    per_type, used = n // 8, defaultdict(set)
    for slot in slots("paper", n, 2):
        used[slot.fault].add(slot.instance)
    assert used[CLEAN] == set(range(2 * per_type))
    assert used["wrong_tool"] == used["premature_stop"] == used["unsupported_claim"] == set(range(per_type))
    assert used["ignored_observation"] == {6 * i + 1 for i in range(per_type)}
    if per_type % 2 == 0:
        assert used["skipped_precondition"] == {6 * i + s for i in range(per_type // 2) for s in (0, 1)}


def test_every_varied_instance_has_one_clean_run_and_three_faulty_ones():
    faults = defaultdict(set)
    for slot in slots("varied", 2000, 11):
        faults[slot.instance].add(slot.fault)
    assert set(faults) == set(range(500))
    assert all(len(names) == 4 and CLEAN in names for names in faults.values())
    assert all(faults[i] | faults[i + 1] == {CLEAN, *FAULTS} for i in range(0, 500, 2))
    ways = Counter((target_stratum(i), name) for i, names in faults.items() for name in names)
    anywhere = [n for n in FAULTS if n not in ("skipped_precondition", "ignored_observation")]
    assert all(ways[stratum, name] > 5 for stratum in STRATA for name in anywhere)
    assert ways["other_customer", "ignored_observation"] == 0


def test_a_run_does_not_depend_on_the_runs_made_before_it():
    whole = {run.id: run for run in generate("varied", 80, 1)}
    again = {run.id: run for run in generate("varied", 80, 1)}
    assert whole == again
    other_order = {run.id: run for run in generate("varied", 88, 1)}
    shared = whole.keys() & other_order.keys()
    assert len(shared) == 80
    assert all(whole[key] == other_order[key] for key in shared)


def test_seed_zero_is_a_seed():
    first = [run.id for run in generate(n=16, seed=0)]
    assert first == [run.id for run in generate(n=16, seed=0)]
    assert first != [run.id for run in generate(n=16, seed=7)]


def test_a_position_says_nothing_of_the_fault_that_stands_there():
    seen = defaultdict(set)
    for seed in range(60):
        for position, slot in enumerate(slots("paper", 16, seed)):
            seen[position].add(slot.fault)
    assert all(names == {CLEAN, *FAULTS} for names in seen.values())


@pytest.mark.parametrize("preset", ["paper", "varied"])
def test_a_hundred_thousand_runs_stream_in_bounded_memory(preset: str):
    def held_after(runs: int) -> int:
        for _ in itertools.islice(stream, runs):
            pass
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    stream = generate(preset, 100_000, 3)
    next(stream)
    tracemalloc.start()
    early = held_after(200)
    late = held_after(800)
    tracemalloc.stop()
    assert late - early < 20_000


def test_a_set_of_a_billion_starts_at_once():
    assert next(iter(generate(n=10**9))).steps


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "papr"}, r"preset: expected one of paper, varied, got 'papr' \(did you mean 'paper'\?\)"),
        ({"wording": "c"}, "wording: expected one of a, b, got 'c'"),
        ({"n": 0}, "n: expected at least 1 run, got 0"),
        ({"n": 2.0}, "n: expected an integer, got 2.0"),
        ({"n": True}, "n: expected an integer, got True"),
        ({"seed": None}, "seed: expected an integer, got None"),
        ({"preset": "varied", "cascades": 1.5}, "cascades: expected a share from 0 to 1, got 1.5"),
        ({"wording": "b"}, "wording: 'b' needs preset 'varied'"),
        ({"cascades": 0.5}, "cascades: 0.5 needs preset 'varied'"),
    ],
)
def test_a_wrong_argument_is_refused_at_once_by_name(given: dict, message: str):
    with pytest.raises(ValueError, match=message):
        generate(**given)
