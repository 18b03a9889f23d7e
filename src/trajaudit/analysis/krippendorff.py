"""Krippendorff's alpha: how far any number of readers agree, beyond chance, with gaps.

Alpha is one less observed over expected disagreement (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability").
Units that fewer than two read say nothing of agreement and are left out of both. What counts as disagreement is the
distance between two values, and that choice changes the number: nominal (0 or 1) for a yes or no and for one type; for
*sets* of types one less their Jaccard overlap (after Passonneau 2006), so that naming one type of two in common is half
a disagreement and not a whole one.

Both disagreements are functions of sums over units, so alpha is a ``Statistic`` and its interval comes from the same
cluster bootstrap as every other one's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajaudit.analysis.statistic import FloatArray, IntArray, Statistic, divide

MISSING = -1


def nominal_distance(categories: int) -> FloatArray:
    """Return the distances [C, C] of values that are either the same or not."""
    return 1.0 - np.eye(categories)


def jaccard_distance(sets: Sequence[frozenset]) -> FloatArray:
    """Return the distances [C, C] of sets: one less the overlap; two empty sets are the same.

    >>> jaccard_distance([frozenset(), frozenset("a"), frozenset("ab")]).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    return np.array([[1 - len(a & b) / len(a | b) if a | b else 0.0 for b in sets] for a in sets])


def counts_of(values: IntArray, categories: int) -> FloatArray:
    """Return how often each category was given to each unit, [units, C], from values [readers, units].

    ``MISSING`` stands where a reader did not read a unit.
    """
    return np.stack([(values == category).sum(axis=0) for category in range(categories)], axis=1).astype(np.float64)


def krippendorff_alpha(counts: FloatArray, distance: FloatArray | None = None) -> Statistic:
    """Return alpha from counts [units, C] and distances [C, C], nominal where null.

    >>> meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]  # Krippendorff 2011, section A
    >>> round(krippendorff_alpha(counts_of(np.array([meg, owen]), 2)).value, 3)
    0.095
    """
    apart = nominal_distance(counts.shape[1]) if distance is None else distance
    readers = counts.sum(axis=1)
    pairable = readers >= 2
    kept = np.where(pairable[:, None], counts, 0.0)
    within = np.einsum("uc,uk,ck->u", kept, kept, apart) / np.maximum(readers - 1, 1)

    def alpha(sums: FloatArray) -> FloatArray:
        totals = sums[..., 1:]
        n = totals.sum(axis=-1)
        expected = divide(np.einsum("...c,...k,ck->...", totals, totals, apart), n - 1)
        return 1 - divide(sums[..., 0], expected)

    reason = "all readers give all units one value: no disagreement is expected" if pairable.any() else "no two readers"
    return Statistic((within, *kept.T), alpha, pairable, reason, unit=False)
