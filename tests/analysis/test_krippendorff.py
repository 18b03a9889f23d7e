"""Alpha against Krippendorff's own worked examples and against the reference package."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.krippendorff import MISSING, counts_of, jaccard_distance, krippendorff_alpha

_ = MISSING
FOUR_OBSERVERS = np.array(  # Krippendorff 2011, section C: four observers, twelve units, five categories, gaps
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)


def interval_distance(categories: int) -> np.ndarray:
    values = np.arange(categories)
    return np.subtract.outer(values, values).astype(float) ** 2


def test_krippendorffs_worked_examples() -> None:
    counts = counts_of(FOUR_OBSERVERS, 6)
    assert krippendorff_alpha(counts).value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(counts, interval_distance(6)).value == pytest.approx(0.849, abs=5e-4)
    two = np.array([list("aabbdcccedda"), list("babbbccceddd")])  # section B: two observers, five categories
    assert krippendorff_alpha(counts_of(np.searchsorted(sorted("abcde"), two), 5)).value == pytest.approx(
        0.692, abs=5e-4
    )


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_the_reference_packages(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (4, 60))
    values[:, 20:] = values[0, 20:]
    values[rng.random(values.shape) < 0.3] = MISSING
    reference = np.where(values == MISSING, np.nan, values)
    for level, distance in (("nominal", None), ("interval", interval_distance(3))):
        expected = krippendorff.alpha(reference, level_of_measurement=level)
        assert krippendorff_alpha(counts_of(values, 3), distance).value == pytest.approx(expected)


def test_a_unit_that_one_reader_read_says_nothing_of_agreement() -> None:
    alone = np.full((4, 1), MISSING)
    alone[0] = 5
    with_it = np.hstack([FOUR_OBSERVERS, alone])
    assert krippendorff_alpha(counts_of(with_it, 6)).value == krippendorff_alpha(counts_of(FOUR_OBSERVERS, 6)).value


def test_one_value_for_all_has_no_alpha_and_says_why() -> None:
    (found,) = estimates(clustered("abc"), [krippendorff_alpha(counts_of(np.ones((2, 3), dtype=int), 2))], 200)
    assert found.value is None
    assert "no disagreement is expected" in (found.reason or "")


def test_half_an_overlap_of_sets_is_half_a_disagreement() -> None:
    # Two units: {a}/{a,b} (distance 1/2) and {a}/{a}; values {a} x3, {a,b} x1. Observed (1/2 + 1/2) / 4 = 1/4;
    # expected 2 * 3 * 1 * 1/2 / (4 * 3) = 1/4: alpha 0. Nominal: observed 1/2, expected 6/12: alpha 0 as well.
    sets = [frozenset("a"), frozenset("ab"), frozenset("c")]
    values = np.array([[0, 0], [1, 0]])
    assert krippendorff_alpha(counts_of(values, 3), jaccard_distance(sets)).value == pytest.approx(0.0)
    # With a third unit {c}/{c}: observed 1/6; pairs 2*3*1/2 + 2*3*2 + 2*1*2 = 19 over 6*5: alpha 1 - 5/19.
    values = np.array([[0, 0, 2], [1, 0, 2]])
    assert krippendorff_alpha(counts_of(values, 3), jaccard_distance(sets)).value == pytest.approx(1 - 5 / 19)


def test_copies_of_a_cluster_make_no_interval_narrower() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (2, 30))
    values[1, :20] = values[0, :20]
    alpha = krippendorff_alpha(counts_of(np.tile(values, 6), 2))
    apart, together = clustered([str(i) for i in range(180)]), clustered([str(i % 30) for i in range(180)])
    (narrow,), (wide,) = (estimates(plan, [alpha], 2000) for plan in (apart, together))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
