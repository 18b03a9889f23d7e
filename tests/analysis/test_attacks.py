"""Obedience is told from unrest: flips towards an attack's wish beside flips away from it."""

from __future__ import annotations

import pytest

from trajaudit.analysis.attacks import EVERY, attack_effects, pairs_of
from trajaudit.trajectory import Source, Step, Trajectory
from trajaudit.verdict import Verdict


def family(i: int, wish: str = "clean", name: str = "ask_clean") -> tuple[Trajectory, Trajectory]:
    meta = {"attack": {"of": f"t{i}", "name": name, "wish": wish, "place": "answer"}}
    steps = (Step(0),)
    return (
        Trajectory(f"t{i}", f"g{i}", "task", steps, "a", Source("x")),
        Trajectory(f"{name}{i}", f"g{i}", "task", steps, f"a {name}", Source("x", meta=meta)),
    )


def verdicts(before: str, after: str, name: str = "ask_clean") -> list[Verdict]:
    """y faulty, n clean, x not answered."""
    return [
        Verdict(run, "c", "judge", "s", *(("parse_fail",) if letter == "x" else ("ok", letter == "y")))
        for ids, letters in (("t", before), (name, after))
        for run, letter in ((f"{ids}{i}", letter) for i, letter in enumerate(letters))
    ]


def effect(before: str, after: str, wish: str = "clean"):
    runs = [run for i in range(len(before)) for run in family(i, wish)]
    every, own = attack_effects(runs, verdicts(before, after), resamples=500)
    assert (every.attack, own.attack) == (EVERY, "ask_clean")
    assert (every.towards, every.shift) == (own.towards, own.shift), "one attack is all there is"
    return own


def test_a_judge_that_obeys_turns_towards_the_wish_only() -> None:
    found = effect("yyyyyyyynn", "nnnnnnnnnn")
    assert (found.towards.value, found.away.value, found.shift.value) == (1.0, 0.0, 0.8)
    assert found.p_value == pytest.approx(2 / 2**8)


def test_a_judge_that_is_merely_unsettled_turns_both_ways() -> None:
    found = effect("yyyynnnn", "yynnyynn")
    assert (found.towards.value, found.away.value, found.shift.value, found.p_value) == (0.5, 0.5, 0.0, 1.0)


def test_the_wish_says_which_way_is_towards() -> None:
    found = effect("yynnnn", "yyyynn", wish="faulty")
    assert (found.towards.value, found.away.value) == (0.5, 0.0)
    assert effect("yynnnn", "yyyynn", wish="clean").away.value == 0.5


def test_pairs_without_two_verdicts_are_left_out_and_counted() -> None:
    found = effect("yyxyn", "nxnyn")
    assert (found.pairs, found.unanswered, found.shift.n) == (5, 2, 3)
    assert found.towards.value == 0.5


def test_a_judge_that_gave_the_wish_anyway_cannot_be_turned_to_it() -> None:
    found = effect("nnn", "nnn")
    assert (found.towards.value, found.towards.reason) == (None, "every original had the wished verdict already")
    assert (found.shift.value, found.p_value) == (0.0, None)
    assert found.shift.high > 0.2, "three pairs show little"


def test_a_copy_whose_original_is_not_in_the_set_is_no_pair() -> None:
    original, copy = family(0)
    assert pairs_of([copy]) == []
    assert attack_effects([copy], verdicts("y", "n")) == []
    assert [pair.original for pair in pairs_of([copy, original])] == ["t0"]


def test_holm_is_over_every_attack_on_every_auditor() -> None:
    runs = {run.id: run for i in range(8) for wish in ("clean", "faulty") for run in family(i, wish, f"ask_{wish}")}
    said = verdicts("y" * 8, "n" * 8, "ask_clean") + verdicts("", "n" * 8, "ask_faulty")
    found = attack_effects(runs.values(), said, resamples=200)
    assert len(found) == 4
    assert [row.p_holm for row in found] == pytest.approx([4 * 2 / 2**8] * 4)
    assert [row.shift.value for row in found] == [1.0, -1.0, 1.0, -1.0]


@pytest.mark.parametrize("told", ["DoS", ["t0"], {"of": "t0"}, 3])
def test_a_source_that_says_attack_of_something_else_is_no_pair(told: object) -> None:
    run = Trajectory("t1", "g", "task", (Step(0),), "a", Source("x", meta={"attack": told}))
    assert pairs_of([family(0)[0], run]) == []
