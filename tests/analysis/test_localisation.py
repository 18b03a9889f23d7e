"""Naming the step: exactly, nearly, jointly, and what no insight would score."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.analysis.localisation import localisation, position_prior
from trajaudit.analysis.table import under


def located(items, answers):
    return {name: s.value for name, s in localisation(items, under(answers, "published")).items()}


def test_steps_are_compared_as_integers(labelled, answered):
    for gold, named in ((1, 10), (10, 1)):
        values = located(labelled([True], step=gold, length=12), answered([True], step=named))
        assert values["step_exact"] == 0


def test_exact_is_over_the_flagged_with_a_step_and_joint_over_all_faulty(labelled, answered):
    items = labelled([True] * 5 + [False], step=[2, 2, 2, 2, 2, 0])
    answers = answered([True, True, True, True, False, True], step=[2, 3, 5, -1, 2, 2])
    values = located(items, answers)
    assert values["step_exact"] == pytest.approx(1 / 3)
    assert values["step_within_one"] == pytest.approx(2 / 3)
    assert values["step_joint"] == pytest.approx(1 / 5)


def test_baselines_are_over_the_trajectories_of_step_exact(labelled, answered):
    items = labelled([True] * 4, step=[0, 5, 3, 0], length=[6, 6, 4, 2])
    values = located(items, answered([True, True, True, False], step=1))
    assert values["step_first"] == pytest.approx(1 / 3)
    assert values["step_last"] == pytest.approx(2 / 3)
    assert values["step_uniform"] == pytest.approx((1 / 6 + 1 / 6 + 1 / 4) / 3)


def test_the_position_prior_never_reads_the_own_group(labelled):
    items = labelled([True] * 5 + [False], groups=["a", "a", "a", "b", "c", "b"], step=[4, 4, 4, 2, 1, 0])
    assert position_prior(items).tolist() == [1, 1, 1, 4, 4, 4]
    alone = labelled([True, True], groups=["a", "a"], step=3)
    assert position_prior(alone).tolist() == [-1, -1]


def test_any_labelled_fault_may_be_named_where_that_is_asked(labelled, answered):
    items = labelled([True, True], step=1)
    items = type(items)(**{**vars(items), "fault_steps": (frozenset({1, 4}), frozenset({1}))})
    values = located(items, answered([True, True], step=4))
    assert (values["step_exact"], values["step_exact_any"]) == (0, 0.5)


def test_an_auditor_that_names_no_step_has_no_localisation_and_one_that_names_wrong_ones_has_zero(labelled, answered):
    statistics = localisation(labelled([True, True]), under(answered([True, True]), "published"))
    assert statistics["step_exact"].value is None
    assert statistics["step_exact"].reason == "no faulty trajectory was flagged with a step"
    assert (statistics["step_joint"].value, statistics["step_joint"].reason) == (None, "the auditor names no step")
    wrong = localisation(labelled([True, True], step=[1, 1]), under(answered([True, True], step=2), "published"))
    assert wrong["step_joint"].value == 0


def test_a_fault_at_an_unknown_step_is_outside_every_denominator(labelled, answered):
    items = labelled([True, True], step=[-1, 2])
    statistics = localisation(items, under(answered([True, True], step=2), "published"))
    assert [int(np.sum(statistics[name].among)) for name in ("step_exact", "step_joint")] == [1, 1]
