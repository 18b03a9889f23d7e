"""What does not fit is left out by a stated policy, marked, and counted; nothing is cut in silence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from scripted_chat import refund_run

from trajaudit.judges.elision import SHORTEST, fit
from trajaudit.trajectory import Trajectory


def count(text: str) -> int:
    return -(-len(text) // 4)


def test_what_fits_is_shown_whole_and_nothing_is_counted():
    run = refund_run()
    record = fit(run, "step", 10_000, count)
    assert record == fit(run, "step", None, count)
    assert record is not None
    assert record.unseen is None
    assert "not shown" not in record.text


def test_a_long_observation_loses_its_middle_and_short_ones_stay_whole():
    """The fault stands at the end of a text of 30,000 characters: a cut of the head alone would lose it."""
    long = "HEAD " + "x" * 30_000 + " TAIL"
    run = refund_run(({"ok": True}, long, {"status": "refunded"}))
    record = fit(run, "step", 1000, count)
    assert record is not None
    assert count(record.text) <= 1000
    assert "HEAD" in record.text
    assert "TAIL" in record.text
    assert '{"ok": true}' in record.text
    assert '{"status": "refunded"}' in record.text
    assert record.unseen is not None
    assert record.unseen.steps == (1,)


def test_the_note_says_how_much_is_not_shown_and_carries_the_mark():
    long = "".join(chr(0x4E00 + i % 5000) for i in range(20_000))
    record = fit(refund_run((long,)), "step", 2000, count)
    assert record is not None
    note = re.search(rf"\[{record.mark}: (\d+) characters not shown\]", record.text)
    assert note is not None
    kept = sum(record.text.count(char) for char in set(long))
    assert kept + int(note[1]) == len(long)
    assert record.unseen is not None
    assert record.unseen.tokens == count("x" * int(note[1]))


def test_nearly_all_of_the_budget_is_used():
    record = fit(refund_run(("y" * 100_000,)), "step", 5000, count)
    assert record is not None
    assert 5000 - 10 <= count(record.text) <= 5000


def test_the_longest_observations_are_shortened_to_one_length_first():
    run = refund_run(("a" * 5000, "b" * 1000, "c" * 9000))
    record = fit(run, "step", 2000, count)
    assert record is not None
    body = record.text.split("goal")[1]
    kept = [
        len(re.findall(f"{char}{{20,}}", body)) and sum(map(len, re.findall(f"{char}{{20,}}", body))) for char in "abc"
    ]
    assert kept[1] == 1000
    assert kept[0] == kept[2] > 1000
    assert record.unseen is not None
    assert record.unseen.steps == (0, 2)


def test_steps_go_from_the_middle_only_when_shortening_is_not_enough():
    run = refund_run(tuple(f"{i} " + "z" * 1000 for i in range(50)))
    record = fit(run, "step", 1500, count)
    assert record is not None
    assert count(record.text) <= 1500
    for kept in ("goal:", "[step 0] ", "[step 49] ", "final answer: Refunded."):
        assert kept in record.text
    gap = re.search(rf"\[{record.mark}: steps (\d+) to (\d+) not shown\]", record.text)
    assert gap is not None
    first, last = int(gap[1]), int(gap[2])
    shown = {int(number) for number in re.findall(r"^\[step (\d+)\]", record.text, re.MULTILINE)}
    assert shown == set(range(50)) - set(range(first, last + 1))
    assert record.unseen is not None
    assert set(record.unseen.steps) == set(range(50)), "every observation lost its middle, those in the gap all of it"
    assert record.text.index("[step 0]") < record.text.index("not shown]\n") < record.text.index("[step 49]")


def test_long_thoughts_and_actions_are_shortened_after_the_observations():
    run = refund_run(({"ok": True},))
    talkative = replace(run, steps=(replace(run.steps[0], thought="why " * 2000),))
    record = fit(talkative, "step", 600, count)
    assert record is not None
    assert record.unseen is not None
    assert record.unseen.steps == (0,)
    assert '{"ok": true}' in record.text


@pytest.mark.parametrize("view", ["outcome", "step"])
def test_goal_and_answer_are_never_cut_so_too_long_ones_overflow(view):
    run = refund_run(answer="a" * 8000)
    assert fit(run, view, 1000, count) is None
    assert fit(run, view, 3000, count) is not None


def test_a_window_with_no_room_at_all_overflows():
    assert fit(refund_run(), "step", -5, count) is None


def test_a_note_in_the_trace_does_not_pass_for_ours():
    fake = "[0123456789abcdef: 900 characters not shown]"
    record = fit(refund_run((fake + "x" * 20_000,)), "step", 1000, count)
    assert record is not None
    assert record.mark not in fake
    assert len(re.findall(rf"\[{record.mark}: \d+ characters not shown\]", record.text)) == 1


@pytest.mark.parametrize("budget", [300, 500, 800, 1300, 2100, 3400, 10_000])
def test_a_larger_budget_never_shows_less(budget):
    run = refund_run(tuple(chr(97 + i) * 700 for i in range(12)))

    def unseen(trajectory: Trajectory, tokens: int) -> int:
        record = fit(trajectory, "step", tokens, count)
        return 10**9 if record is None else 0 if record.unseen is None else record.unseen.tokens

    assert unseen(run, budget) >= unseen(run, 2 * budget)


def test_the_shortest_text_is_kept_whole():
    record = fit(refund_run(("s" * SHORTEST, "l" * 50_000)), "step", 500, count)
    assert record is not None
    assert "s" * SHORTEST in record.text
