"""What an encoder is fed: everything that matters, nothing that gives the label away, and no cut in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_tokenizer import PlainTokenizer
from sample_runs import make_run

from trajaudit.detectors.encoding import caps, head_tail
from trajaudit.detectors.recipes import PremiseWindows, StepWindows, WholeRun
from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

RECIPES = (
    StepWindows(64),
    StepWindows(64, "windows"),
    StepWindows(64, values="marked"),
    PremiseWindows(64, 8),
    PremiseWindows(64, 8, 2),
    PremiseWindows(64, long_input="retrieval"),
    PremiseWindows(64, long_input="retrieval", values="marked"),
    WholeRun(128),
    WholeRun(128, "marked"),
)


def long_run(observation: str, answer: str, steps: int = 1) -> Trajectory:
    turns = tuple(Step(i, f"look{i}", Action("read", {}), observation) for i in range(steps))
    return Trajectory("t", "g", "What was it?", turns, answer, Source("x"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: str(sorted(r.spec.values(), key=str)))
def test_nothing_that_gives_a_label_away_is_fed(recipe, words: PlainTokenizer) -> None:
    label = Label(True, (Fault("LABELWORD", 1, "action"),), True, "human", twin="TWINWORD")
    source = Source("DATASETWORD", "MODELWORD", "DOMAINWORD", {"gold": "METAWORD"})
    run = replace(make_run("INS-00001-IDWORD", "GROUPWORD", label), source=source, reference="REFERENCEWORD")
    fed = " ".join(words.decode(window.ids) for window in recipe.encode(run, words).windows)
    assert "WORD" not in fed
    assert "wrong_tool" not in fed
    stripped = replace(run, id="x", group="y", label=None, source=Source("z"), reference=None)
    assert recipe.encode(run, words) == recipe.encode(stripped, words)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: str(sorted(r.spec.values(), key=str)))
def test_every_window_fits_and_what_does_not_is_counted(recipe, words: PlainTokenizer) -> None:
    for run in [*generate("varied", 12, 7, "a", 0.0), make_run()]:
        encoded = recipe.encode(run, words)
        assert all(len(window.ids) <= recipe.window for window in encoded.windows)
        assert (encoded.unseen == 0) == (encoded.unseen_steps == ()) or recipe.spec["recipe"] == "whole_run"
        assert {unit for window in encoded.windows for unit in window.units} >= set(range(len(run.steps)))


@pytest.mark.parametrize("repeats", [4, 40])
def test_a_context_that_outgrows_the_window_hides_no_fact(repeats: int, words: PlainTokenizer) -> None:
    """The same false answer under a true context of 200 and of 2,000 characters: the fact is read in both."""
    filler = "nothing of note happened here that day " * repeats
    encoded = PremiseWindows(48, 8, None).encode(long_run(f"{filler} it was RED {filler}", "It was BLUE."), words)
    answers = [words.decode(window.ids) for window in encoded.windows if window.units == (1,)]
    assert encoded.unseen == 0
    assert any("RED" in text and "BLUE" in text for text in answers)
    assert all("BLUE" in text for text in answers)


def test_only_the_premise_is_cut(words: PlainTokenizer) -> None:
    """A premise of 600 tokens and a hypothesis of 20 whose last token is the false one."""
    claim = " ".join(f"h{i}" for i in range(19)) + " FALSE"
    encoded = PremiseWindows(64, 8, 3).encode(long_run("p " * 600, claim), words)
    answers = [window for window in encoded.windows if window.units == (1,)]
    assert len(answers) == 3
    for window in answers:
        text = words.decode(window.ids[window.second :])
        assert text == f"final answer: {claim} [SEP]"


def test_a_hypothesis_longer_than_half_a_window_becomes_several(words: PlainTokenizer) -> None:
    claim = " ".join(f"h{i}" for i in range(100))
    encoded = PremiseWindows(64, 8, 1).encode(long_run("p", claim), words)
    said = " ".join(words.decode(w.ids[w.second : -1]) for w in encoded.windows if w.units == (1,))
    assert said == f"final answer: {claim}"


def test_premise_windows_that_are_left_out_are_those_that_share_least(words: PlainTokenizer) -> None:
    filler = " ".join(f"w{i}" for i in range(200))
    encoded = PremiseWindows(64, 8, 2).encode(long_run(f"{filler} order ORD-7 {filler}", "order ORD-7 paid"), words)
    answers = [words.decode(window.ids) for window in encoded.windows if window.units == (1,)]
    assert "What was it?" in answers[0]
    assert "order ORD-7 w0" in answers[1]
    assert encoded.unseen > 0
    assert encoded.unseen_steps == (0,)


def test_a_step_alone_sees_nothing_of_the_steps_before_it(words: PlainTokenizer) -> None:
    run = make_run(steps=3)
    texts = [words.decode(window.ids) for window in StepWindows(64).encode(run, words).windows]
    assert ["thought 1" in text for text in texts] == [False, True, False]
    assert ["Done." in text for text in texts] == [False, False, True]
    assert all("Refund order 1." not in text for text in texts)


def test_spread_windows_hold_every_token_and_repeat_the_thought(words: PlainTokenizer) -> None:
    run = long_run(" ".join(f"o{i}" for i in range(300)), "ok")
    texts = [words.decode(w.ids) for w in StepWindows(64, "windows").encode(run, words).windows]
    assert all("thought: look0" in text for text in texts)
    assert {f"o{i}" for i in range(300)} <= set(" ".join(texts).split())


def test_a_whole_run_has_a_marker_before_each_step(words: PlainTokenizer) -> None:
    run = make_run(steps=3)
    (window,) = WholeRun(128).encode(run, words).windows
    assert window.units == (3, 0, 1, 2)
    for (start, end), unit in zip(window.spans[1:], window.units[1:], strict=True):
        text = words.decode(window.ids[start:end])
        assert text.startswith(f"[SEP] thought: thought {unit} action: lookup")
        assert ("final answer: Done." in text) == (unit == 2)


def test_more_steps_than_markers_fit_is_no_error_and_said(words: PlainTokenizer) -> None:
    encoded = WholeRun(64).encode(make_run(steps=50), words)
    assert len(encoded.windows[0].ids) <= 64
    assert encoded.unseen_steps[-1] == 49


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 120))
def test_caps_fill_the_budget_and_cut_the_longest_first(lengths: list[int], budget: int) -> None:
    allowed = caps(lengths, budget)
    assert sum(allowed) == min(sum(lengths), budget)
    assert all(0 <= cap <= length for cap, length in zip(allowed, lengths, strict=True))
    cut = [cap for cap, length in zip(allowed, lengths, strict=True) if cap < length]
    assert max(cut, default=0) - min(cut, default=0) <= 1
    assert all(len(head_tail(range(length), cap)) == cap for cap, length in zip(allowed, lengths, strict=True))


def test_retrieval_puts_two_facts_that_stand_apart_into_one_window(words: PlainTokenizer) -> None:
    """The claim compares two readings a thousand tokens apart: one window holds both, and the claim whole."""
    filler = "nothing of note happened here that day " * 70
    run = long_run(f"pump_a is at 31 now {filler} pump_b is at 77 now {filler}", "So pump_a 31 is above pump_b 77.")
    encoded = PremiseWindows(128, long_input="retrieval").encode(run, words)
    answers = [words.decode(window.ids) for window in encoded.windows if window.units == (1,)]
    assert len(answers) == 1
    assert "pump_a is at 31" in answers[0]
    assert "pump_b is at 77" in answers[0]
    assert encoded.unseen > 800
