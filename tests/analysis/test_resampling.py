"""The bootstrap: what is drawn with what, and that the same seed gives the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.analysis import resampling, score
from trajaudit.analysis.metrics import statistics
from trajaudit.analysis.resampling import Design, design, draw, influence, replicates
from trajaudit.analysis.statistic import rate
from trajaudit.analysis.table import under


def test_a_cluster_is_drawn_whole_and_every_resample_keeps_the_counts_of_the_design(mixed):
    items, _ = mixed
    plan = design(items)
    weights = next(draw(plan, 200, 0, 200))[:, plan.cluster]
    for group in sorted(set(items.groups)):
        own = weights[:, [g == group for g in items.groups]]
        assert (own == own[:, :1]).all()
    for stratum, kind in sorted(set(zip(items.stratum.tolist(), items.type.tolist(), strict=True))):
        inside = (items.stratum == stratum) & (items.type == kind)
        assert weights[:, inside].sum(axis=1) == pytest.approx(inside.sum())


def test_rare_profiles_are_pooled_until_every_stratum_has_five_clusters(labelled):
    groups = [f"a{i}" for i in range(6)] + [f"b{i}" for i in range(3)] + ["c0", "c0", "d0", "d0", "d0"]
    types = ["wrong_tool"] * 6 + ["premature_stop"] * 3 + ["wrong_tool"] * 2 + ["premature_stop"] * 3
    plan = design(labelled([True] * len(groups), groups, types))
    assert sorted(plan.sizes.tolist()) == [5, 6]
    assert plan.clustered
    assert design(labelled([True] * 3, "xyz", "wrong_tool")).sizes.tolist() == [3]


def test_a_stratum_of_few_clusters_keeps_its_whole_variance():
    plan, hits = Design(np.arange(6), np.array([6])), np.array([1, 0, 0, 1, 1, 0], dtype=bool)
    drawn = replicates(plan, [rate(hits, np.ones(6, dtype=bool), "")], 200_000, 0)[0]
    assert drawn.var() == pytest.approx(hits.var(ddof=1) / 6, rel=0.02)


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others(mixed):
    items, answers = mixed
    first, again, other = (
        score(items, {"judge": answers}, resamples=300, seed=seed)[0].metrics["f1"] for seed in (0, 0, 1)
    )
    assert first == again
    assert (first.value, first.low) != (other.value, other.low)
    assert first.value == other.value


def test_intervals_depend_neither_on_row_order_nor_on_how_much_is_held_at_once(mixed, monkeypatch):
    items, answers = mixed
    ours = statistics(items, under(answers, "published"))
    chosen = [ours[name] for name in ("f1", "roc_auc", "type_macro_f1", "ece")]
    plan = design(items)
    whole = replicates(plan, chosen, 50, 4)
    for name in ("HELD", "CACHED"):
        monkeypatch.setattr(resampling, name, 1)
    assert replicates(plan, chosen, 50, 4) == pytest.approx(whole)
    order = np.random.default_rng(0).permutation(len(items.ids))
    shuffled = type(items)(
        **{k: v[order] if isinstance(v, np.ndarray) else tuple(v[i] for i in order) for k, v in vars(items).items()}
    )
    assert design(shuffled).cluster.tolist() == plan.cluster[order].tolist()


@pytest.mark.parametrize("few_levels", [128, 1])
def test_influence_is_the_slope_by_a_clusters_weight(mixed, monkeypatch, few_levels):
    monkeypatch.setattr("trajaudit.analysis.curves.FEW_LEVELS", few_levels)
    items, answers = mixed
    plan = design(items)
    ours = statistics(items, under(answers, "published"))
    for name in ("recall", "f1", "roc_auc", "average_precision", "aurc"):
        statistic, step = ours[name], 1e-5
        if isinstance(statistic.columns, tuple):
            sums = resampling.cluster_sums(plan, statistic.columns)
            slope = np.array([statistic.reduce(sums.sum(axis=1) + step * s) for s in sums.T]) - statistic.value
        else:
            weights = 1 + step * np.eye(plan.clusters)[:, plan.cluster[statistic.columns]]
            slope = statistic.reduce(weights) - statistic.value
        stratum = np.repeat(np.arange(len(plan.sizes)), plan.sizes)
        slope = slope / step
        slope -= (np.bincount(stratum, slope) / plan.sizes)[stratum]
        assert influence(plan, statistic) == pytest.approx(slope, abs=5e-4), name


def test_level_sums_and_row_weights_give_the_same_areas(mixed, monkeypatch):
    items, answers = mixed
    names, plan = ("roc_auc", "average_precision", "aurc"), design(items)
    by_level = statistics(items, under(answers, "published"))
    monkeypatch.setattr("trajaudit.analysis.curves.FEW_LEVELS", 1)
    by_row = statistics(items, under(answers, "published"))
    for name in names:
        assert isinstance(by_level[name].columns, tuple) != isinstance(by_row[name].columns, tuple)
    a, b = (replicates(plan, [ours[name] for name in names], 40, 0) for ours in (by_level, by_row))
    assert a == pytest.approx(b)
