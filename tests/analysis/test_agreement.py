"""Agreement of two sides, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, jaccard_score

from trajaudit.analysis.agreement import agreement_f1, clustered, cohen_kappa, jaccard
from trajaudit.analysis.intervals import estimates

ALL = np.ones(200, dtype=bool)


@pytest.fixture
def sides():
    rng = np.random.default_rng(0)
    a = rng.random((200, 5)) < 0.4
    return a, a ^ (rng.random((200, 5)) < 0.2)


def test_kappa_f1_and_jaccard_are_scikit_learns(sides) -> None:
    a, b = sides
    assert cohen_kappa(a[:, 0], b[:, 0], ALL).value == pytest.approx(cohen_kappa_score(a[:, 0], b[:, 0]))
    assert agreement_f1(a[:, 0], b[:, 0], ALL).value == pytest.approx(f1_score(b[:, 0], a[:, 0]))
    some = (a | b).any(axis=1)
    assert jaccard(a, b, some).value == pytest.approx(jaccard_score(a[some], b[some], average="samples"))


def test_kappa_by_hand() -> None:
    # 35 agree on no, 141 on yes, 36 and 12 disagree: observed 176/224, expected by chance 0.607.
    said = np.repeat([False, False, True, True], [35, 12, 36, 141])
    true = np.repeat([False, True, False, True], [35, 12, 36, 141])
    assert cohen_kappa(said, true, np.ones(224, dtype=bool)).value == pytest.approx(0.456, abs=5e-4)


def test_chance_agreement_is_zero_and_one_sided_agreement_has_no_kappa() -> None:
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert cohen_kappa(a, b, np.ones(4, dtype=bool)).value == pytest.approx(0.0)
    assert cohen_kappa(a | True, b | True, np.ones(4, dtype=bool)).value is None


def test_two_empty_sets_agree_wholly_and_two_disjoint_ones_not_at_all() -> None:
    a = np.array([[True, False], [False, False], [True, True]])
    b = np.array([[False, True], [False, False], [True, False]])
    assert jaccard(a, b, np.ones(3, dtype=bool)).value == pytest.approx((0 + 1 + 0.5) / 3)


def test_copies_of_a_cluster_make_no_interval_narrower(sides) -> None:
    a, b = (np.tile(side[:40, 0], 5) for side in sides)
    apart = clustered([f"q{i}" for i in range(200)])
    together = clustered([f"q{i % 40}" for i in range(200)])
    (narrow,), (wide,) = (estimates(plan, [cohen_kappa(a, b, ALL)], 2000) for plan in (apart, together))
    assert narrow.value == wide.value
    assert wide.high - wide.low > 1.8 * (narrow.high - narrow.low)
