"""Baselines: each knows one thing, and says what it is worth."""

from __future__ import annotations

import pytest
from sample_runs import make_run

from trajaudit.detectors.baselines import HasError, Length, Majority, PositionPrior
from trajaudit.detectors.baselines_text import TfidfLogistic
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

FAULTY = Label(True, (Fault("wrong_tool", 2, "action"),))


def test_the_majority_says_the_base_rate_of_every_run() -> None:
    majority = Majority()
    majority.fit([make_run("a", "a", FAULTY), make_run("b", "b", FAULTY), make_run("c", "c", Label(False))])
    (verdict,) = majority.predict([make_run("d", "d")])
    assert (verdict.score, verdict.faulty, verdict.types) == (pytest.approx(3 / 5), True, ("wrong_tool",))


def test_the_position_prior_counts_from_the_end_where_faults_sit_there() -> None:
    prior = PositionPrior()
    runs = [
        make_run(f"r{n}", f"g{n}", Label(True, (Fault("premature_stop", n - 1, "action"),)), n) for n in (3, 4, 5, 6)
    ]
    prior.fit(runs)
    (verdict,) = prior.predict([make_run("x", "x", steps=8)])
    assert verdict.step == 7
    assert verdict.step_scores is not None
    assert max(verdict.step_scores) == verdict.step_scores[7]


def test_a_shorter_run_is_suspect_where_faulty_runs_are_shorter() -> None:
    length = Length()
    length.fit(
        [make_run(f"f{i}", f"f{i}", FAULTY, 3) for i in range(20)]
        + [make_run(f"c{i}", f"c{i}", Label(False), 6) for i in range(20)]
    )
    short, long = length.predict([make_run("s", "s", steps=3), make_run("l", "l", steps=6)])
    assert short.faulty
    assert not long.faulty


def erring(name: str, observation: object, label: Label | None = None) -> Trajectory:
    return Trajectory(name, name, "t", (Step(0, None, Action("a", {}), observation),), None, Source("example"), label)


def test_an_error_field_that_is_null_is_no_error() -> None:
    error = HasError()
    bad, good = {"ok": False, "error": "no such order"}, {"ok": True, "error": None}
    error.fit(
        [erring(f"b{i}", bad, Label(True)) for i in range(8)] + [erring(f"g{i}", good, Label(False)) for i in range(8)]
    )
    first, second = error.predict([erring("x", bad), erring("y", good)])
    assert (first.score, first.step, second.score) == (pytest.approx(0.9), 0, pytest.approx(0.1))


def test_tfidf_reads_words_and_never_the_id_or_the_group() -> None:
    tfidf = TfidfLogistic()
    words = {True: "the valve leaks badly", False: "the valve is fine"}
    runs = [erring(f"{'faulty' if i % 2 else 'clean'}-{i}", words[bool(i % 2)], Label(bool(i % 2))) for i in range(40)]
    tfidf.fit(runs)
    leak, fine = tfidf.predict([erring("clean-x", words[True]), erring("faulty-y", words[False])])
    assert leak.faulty
    assert not fine.faulty


def test_a_baseline_needs_labels() -> None:
    with pytest.raises(ValueError, match="majority: expected labelled runs"):
        Majority().fit([make_run()])
