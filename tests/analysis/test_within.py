"""The ROC area within groups, in three readings, and how wide a small test is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from trajaudit.analysis import tabulate
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.resampling import design
from trajaudit.analysis.within import READINGS, area, compare_within, spread_at, within_groups
from trajaudit.trajectory import Label, Source, Step, Trajectory
from trajaudit.verdict import Verdict


def _set(rows: list[tuple[str, bool, float]], name: str = "a") -> tuple[list[Trajectory], list[Verdict]]:
    """Runs of (group, faulty, score), with one auditor's verdicts."""
    runs = [
        Trajectory(f"t{i}", group, "task", (Step(0),), None, Source("test"), Label(faulty))
        for i, (group, faulty, _) in enumerate(rows)
    ]
    said = [
        Verdict(run.id, "c", name, "s", faulty=score >= 0.5, score=score)
        for run, (*_, score) in zip(runs, rows, strict=True)
    ]
    return runs, said


THREE = [
    *[("a", True, 0.9), ("a", False, 0.1)],  # area 1, 1 pair, 2 runs
    *[("b", True, 0.2), ("b", True, 0.4), ("b", False, 0.3), ("b", False, 0.3)],  # area 1/2, 4 pairs, 4 runs
    *[("c", True, 0.5), ("c", True, 0.6)],  # one class: no area
]


@pytest.mark.parametrize(
    ("reading", "expected"),
    [("runs", (2 * 1 + 4 * 0.5) / 6), ("pairs", (1 * 1 + 4 * 0.5) / 5), ("groups", 0.75)],
)
def test_the_three_readings_of_within(reading: str, expected: float) -> None:
    items, answers = tabulate(*_set(THREE))
    assert within_groups(items, answers["a"], reading).value == pytest.approx(expected)


def test_a_score_that_knows_only_the_group_is_worth_nothing_within_groups() -> None:
    rows = [(g, faulty, 0.9 if g == "hard" else 0.1) for g in ("hard", "easy") for faulty in (True, False, g == "hard")]
    items, answers = tabulate(*_set(rows))
    assert area(answers["a"].score, items.faulty) > 0.6
    assert all(within_groups(items, answers["a"], reading).value == pytest.approx(0.5) for reading in READINGS)


def test_groups_of_one_class_leave_within_undefined() -> None:
    items, answers = tabulate(*_set([("a", True, 0.9), ("b", False, 0.1)]))
    (estimate,) = estimates(design(items), [within_groups(items, answers["a"])], 100)
    assert estimate.value is None
    assert "both faulty and clean" in (estimate.reason or "")


def test_the_area_is_scikit_learns() -> None:
    random = np.random.default_rng(0)
    score, faulty = random.integers(0, 5, 60).astype(float), random.random(60) < 0.4
    assert area(score, faulty) == pytest.approx(roc_auc_score(faulty, score))


def test_two_auditors_are_compared_over_the_same_groups() -> None:
    random = np.random.default_rng(1)
    rows = [(f"g{i % 12}", bool(random.random() < 0.5), 0.0) for i in range(240)]
    good = [(g, faulty, float(np.clip(0.4 * faulty + random.random() * 0.6, 0, 1))) for g, faulty, _ in rows]
    poor = [(g, faulty, float(random.random())) for g, faulty, _ in rows]
    runs, said = _set(good, "good")
    items, answers = tabulate(runs, [*said, *_set(poor, "poor")[1]])
    pairs = [("good", "poor"), ("good", "good")]
    first, same = compare_within(items, answers, pairs, family="test", resamples=500)
    assert first.difference.low > 0
    assert first.p_holm is not None
    assert first.p_holm < 0.05
    assert (same.difference.value, same.difference.low, same.difference.high) == (0, 0, 0)
    assert same.p_value == 1


def test_a_test_of_27_runs_is_several_times_as_wide_as_one_of_400() -> None:
    random = np.random.default_rng(2)
    faulty = np.arange(1000) < 500
    score = faulty * 0.5 + random.normal(size=1000)
    (low, high), (least, most) = (spread_at(score, faulty, n, draws=400) for n in (27, 400))
    assert high - low > 3 * (most - least)
    with pytest.raises(ValueError, match="twice the rarer class"):
        spread_at(score, faulty, 1100)
