"""Conclusions that do not follow: neither a word nor a number is wrong, only which number is the larger."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.detectors.baselines_text import TfidfLogistic
from trajaudit.detectors.order import Order, crosses
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory


def limits(n: int, seed: int) -> list[Trajectory]:
    """Runs that hold a reading against a limit; of every second one the conclusion is wrong."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(n):
        value, limit = (round(float(x), 2) for x in random.uniform(20, 80, 2))
        side = "above" if (value > limit) != bool(i % 2) else "below"
        task = f"Is the mean of Pump 10 in the week from 2021-03-01 above {limit} A?"
        steps = (
            Step(0, "Read the values.", Action("read", {"asset": "Pump 10"}), {"mean": value}, "IoT"),
            Step(1, f"{value} A is {side} the limit of {limit} A.", Action("finish", {"answer": "Done."}), None, "IoT"),
        )
        label = Label(True, (Fault("logical", 1, "thought"),)) if i % 2 else Label(False)
        made.append(Trajectory(f"t{i}", f"g{i}", task, steps, "Done.", Source("toy"), label))
    return made


def share_right(detector: Order | TfidfLogistic) -> float:
    train, test = limits(200, 0), limits(100, 1)
    detector.fit(train)
    said = detector.predict(test)
    return float(np.mean([v.faulty == bool(r.label and r.label.faulty) for v, r in zip(said, test, strict=True)]))


def test_the_order_of_numbers_tells_what_words_cannot() -> None:
    assert share_right(Order()) == 1.0
    assert share_right(TfidfLogistic()) < 0.65


def test_the_step_and_the_type_are_those_of_the_conclusion() -> None:
    detector = Order()
    detector.fit(limits(200, 0))
    wrong = [v for v, run in zip(detector.predict(limits(100, 1)), limits(100, 1), strict=True) if run.label.faulty]
    assert {verdict.step for verdict in wrong} == {1}
    assert all(verdict.step_scores and verdict.step_scores[0] < 0.5 < verdict.step_scores[1] for verdict in wrong)


def test_dates_and_the_numbers_of_named_things_are_no_amounts() -> None:
    run = limits(1, 0)[0]
    said = list(crosses(run, run.steps[1]))
    assert sum("|limit" in cross for cross in said) == 3  # one pair in the sentence, and the task's limit with each
    assert not any("2021" in cross or "10" in cross for cross in said)


def test_a_fault_whose_step_is_unknown_is_not_learnt_from() -> None:
    runs = limits(4, 0)
    with pytest.raises(ValueError, match="faults at known steps"):
        Order().fit(
            [
                r
                if not r.label.faulty
                else Trajectory(r.id, r.group, r.task, r.steps, r.final_answer, r.source, Label(True))
                for r in runs
            ]
        )
