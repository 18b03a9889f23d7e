"""95 % intervals cover a known truth 93 to 97 % of the time, independent or clustered, and not if clusters are ignored.

Each simulation draws 2,000 data sets from a population whose truth is known and asks the package for an interval of
each. The Monte-Carlo error of a coverage is then 0.5 percentage points.
"""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.analysis.detection import detection
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.resampling import design
from trajaudit.analysis.statistic import rate

SETS, RESAMPLES = 2000, 1000
TYPES = np.array(["wrong_tool", "premature_stop", "ignored_observation", "unsupported_claim"])


def coverage(items, statistics, truth, method="percentile"):
    found = estimates(design(items), statistics, RESAMPLES, 1, 0.95, method)
    return np.mean([e.low <= truth <= e.high for e in found])


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("truth", [0.1, 0.3, 0.5])
def test_independent_trajectories(labelled, truth, method):
    rng, everyone = np.random.default_rng(7), np.ones(150, dtype=bool)
    drawn = [rate(rng.random(150) < truth, everyone, "") for _ in range(SETS)]
    assert 0.93 <= coverage(labelled([True] * 150), drawn, truth, method) <= 0.97


def test_a_rare_event_is_not_covered_less_often(labelled):
    rng, everyone = np.random.default_rng(7), np.ones(150, dtype=bool)
    for truth in (0.02, 0.04):
        drawn = [rate(rng.random(150) < truth, everyone, "") for _ in range(SETS)]
        assert coverage(labelled([True] * 150), drawn, truth) >= 0.93


def _clustered_rates(rng, clusters, size):
    """Recall differs from cluster to cluster: Beta(2, 1), so two thirds on average."""
    everyone = np.ones(clusters * size, dtype=bool)
    return [
        rate((rng.random((clusters, size)) < rng.beta(2, 1, (clusters, 1))).ravel(), everyone, "") for _ in range(SETS)
    ]


def test_clustered_trajectories(labelled):
    drawn = _clustered_rates(np.random.default_rng(8), 60, 6)
    items = labelled([True] * 360, np.repeat(np.arange(60), 6))
    assert 0.93 <= coverage(items, drawn, 2 / 3) <= 0.97
    assert coverage(labelled([True] * 360), drawn, 2 / 3) < 0.85


def test_types_of_unequal_difficulty_in_small_strata(labelled):
    """Twelve profiles of eight clusters: the unscaled bootstrap would lose an eighth of the variance."""
    rng, n = np.random.default_rng(9), 96 * 2
    difficulty = np.repeat(np.linspace(0.2, 0.9, 12), 16)
    items = labelled([True] * n, np.arange(n) // 2, [f"type{i // 16:02}" for i in range(n)])
    everyone = np.ones(n, dtype=bool)
    drawn = [rate(rng.random(n) < difficulty, everyone, "") for _ in range(SETS)]
    assert 0.93 <= coverage(items, drawn, difficulty.mean()) <= 0.97


def test_f1_and_roc_area_of_a_clustered_set(labelled, answered):
    """Groups of a clean run and three faults, an easy or a hard instance: scores on five levels."""
    rng, groups = np.random.default_rng(10), 70
    place = np.tile(np.arange(4), groups)
    items = labelled(place > 0, np.repeat(np.arange(groups), 4), TYPES[place - 1])
    by_ease = {
        True: (np.array([0.4, 0.3, 0.2, 0.1, 0.0]), np.array([0.0, 0.1, 0.2, 0.3, 0.4])),
        False: (np.array([0.3, 0.3, 0.2, 0.1, 0.1]), np.array([0.25, 0.15, 0.2, 0.2, 0.2])),
    }
    clean, faulty = (np.mean([by_ease[ease][i] for ease in (True, False)], axis=0) for i in (0, 1))
    area = sum(faulty[i] * (clean[:i].sum() + clean[i] / 2) for i in range(5))
    recall, alarm = faulty[3:].sum(), clean[3:].sum()
    truth = {"f1": 2 * 3 * recall / (3 * recall + alarm + 3), "roc_auc": area}
    cumulative = np.cumsum([[by_ease[ease][i] for i in (0, 1)] for ease in (False, True)], axis=2)
    drawn = {name: [] for name in truth}
    for _ in range(SETS):
        ease = np.repeat(rng.integers(0, 2, groups), 4)
        level = (rng.random((4 * groups, 1)) > cumulative[ease, items.faulty.astype(int)]).sum(axis=1)
        ours = detection(items, answered(level >= 3, score=level / 4))
        for name in truth:
            drawn[name].append(ours[name])
    for name, value in truth.items():
        assert 0.93 <= coverage(items, drawn[name], value) <= 0.97, name
