"""Every metric that scikit-learn has, checked against it: the estimate, and each bootstrap replicate by its weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as reference

from trajaudit.analysis import score
from trajaudit.analysis.curves import FEW_LEVELS
from trajaudit.analysis.fault_types import confusion
from trajaudit.analysis.metrics import METRICS, statistics
from trajaudit.analysis.resampling import design, draw, replicates
from trajaudit.analysis.table import under


def by_scikit(items, answers, weight) -> dict[str, float]:
    y, flagged, faulty = items.faulty, answers.flagged, items.faulty
    named = np.where(flagged & (answers.type != ""), answers.type, "missed")
    silent = items.stratum == "silent"
    return {
        "precision": reference.precision_score(y, flagged, sample_weight=weight),
        "recall": reference.recall_score(y, flagged, sample_weight=weight),
        "silent_recall": reference.recall_score(y[silent], flagged[silent], sample_weight=weight[silent]),
        "f1": reference.f1_score(y, flagged, sample_weight=weight),
        "accuracy": reference.accuracy_score(y, flagged, sample_weight=weight),
        "roc_auc": reference.roc_auc_score(y, answers.score, sample_weight=weight),
        "average_precision": reference.average_precision_score(y, answers.score, sample_weight=weight),
        "brier": reference.brier_score_loss(y, answers.score, sample_weight=weight),
        "type_macro_f1": reference.f1_score(
            items.type[faulty],
            named[faulty],
            labels=list(items.types),
            average="macro",
            zero_division=0,
            sample_weight=weight[faulty],
        ),
    }


@pytest.mark.parametrize("scores", ["coarse", "continuous"])
def test_estimates_and_replicates_are_those_of_scikit_learn(mixed, scores):
    items, answers = mixed
    if scores == "continuous":
        answers = replace(answers, score=np.random.default_rng(0).permutation(len(items.ids)) / len(items.ids))
        assert len(np.unique(answers.score)) > FEW_LEVELS
    answers = under(answers, "published")
    plan, ours = design(items), statistics(items, answers)
    weights = next(draw(plan, 3, 0, 3))
    names = list(by_scikit(items, answers, np.ones(len(items.ids))))
    drawn = replicates(plan, [ours[name] for name in names], 3, 0)
    for name, value in by_scikit(items, answers, np.ones(len(items.ids))).items():
        assert ours[name].value == pytest.approx(value), name
    for row, weight in enumerate(weights):
        for i, value in enumerate(by_scikit(items, answers, weight[plan.cluster]).values()):
            assert drawn[i, row] == pytest.approx(value), names[i]


def test_the_confusion_is_that_of_scikit_learn(mixed):
    items, answers = mixed
    named = np.where(answers.flagged & (answers.type != ""), answers.type, "missed")
    labels = [*items.types, "missed"]
    expected = reference.confusion_matrix(items.type[items.faulty], named[items.faulty], labels=labels)
    ours = confusion(items, under(answers, "published"))
    assert [list(row.values()) for row in ours.values()] == expected[:-1].tolist()


def test_a_metric_is_computed_once_over_all_and_not_averaged_over_batches(labelled, answered):
    items = labelled([True, False, True, False])
    answers = answered([True, True, False, False], score=[0.9, 0.8, 0.2, 0.1])
    assert statistics(items, under(answers, "published"))["roc_auc"].value == 0.75


@pytest.mark.parametrize("faulty", [True, False])
def test_with_one_class_an_area_is_null_with_its_reason(labelled, answered, faulty):
    items = labelled([faulty] * 6)
    card = score(items, {"judge": answered([True] * 6, score=0.8)}, resamples=50)[0]
    for name in ("roc_auc", "average_precision"):
        assert card.metrics[name].value is None
        assert "only one class" in card.metrics[name].reason


def test_one_verdict_without_a_score_makes_the_areas_null(labelled, answered):
    answers = under(answered([True, False, True], score=[0.9, 0.2, np.nan]), "published")
    statistic = statistics(labelled([True, False, True]), answers)["roc_auc"]
    assert (statistic.value, statistic.reason) == (None, "1 of 3 verdicts state neither score nor confidence")


def test_every_metric_that_is_named_is_computed_and_the_other_way_round(mixed):
    items, answers = mixed
    assert list(statistics(items, under(answers, "published"))) == list(METRICS)
    assert {metric.group for metric in METRICS.values()} == {
        "detection",
        "localisation",
        "typing",
        "calibration",
        "cost",
    }
