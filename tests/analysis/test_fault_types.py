"""Naming the type, by the definitions of the testbed paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trajaudit.analysis.fault_types import confusion, fault_types
from trajaudit.analysis.table import under

A, B, C = "wrong_tool", "premature_stop", "unsupported_claim"


def typed(items, answers):
    return {name: s.value for name, s in fault_types(items, under(answers, "published")).items()}


def test_a_miss_and_a_flag_without_a_type_both_miss_the_true_type(labelled, answered):
    # A: 1 hit of 3 gold, named once: F1 = 2/(3+1). B: 1 hit of 1 gold, named once: F1 = 1.
    items = labelled([True] * 4, types=[A, A, A, B])
    answers = answered([True, True, False, True], types=[A, "", A, B])
    assert typed(items, answers)["type_macro_f1"] == pytest.approx((0.5 + 1) / 2)
    assert confusion(items, under(answers, "published"))[A] == {A: 1, B: 0, "missed": 2}


def test_a_type_that_is_never_named_right_scores_zero_and_enters_the_mean(labelled, answered):
    items = labelled([True] * 2, types=[A, B])
    assert typed(items, answered([True, True], types=[A, A]))["type_macro_f1"] == pytest.approx((2 / 3 + 0) / 2)


def test_false_alarms_do_not_enter_typing(labelled, answered):
    items = labelled([True, False, False], types=A)
    assert typed(items, answered([True, True, True], types=[A, B, A]))["type_macro_f1"] == 1


def test_a_type_outside_the_gold_ones_gets_its_own_column_and_costs_the_true_type(labelled, answered):
    items = labelled([True, True], types=[A, A])
    answers = answered([True, True], types=[A, C])
    assert confusion(items, under(answers, "published")) == {A: {A: 1, C: 1, "missed": 0}}
    assert typed(items, answers)["type_macro_f1"] == pytest.approx(2 / 3)


def test_joint_typing_is_over_all_faulty(labelled, answered):
    items = labelled([True] * 4 + [False], types=A)
    assert typed(items, answered([True, True, False, False, True], types=[A, B, "", A, A]))["type_joint"] == 0.25


def test_a_type_that_nobody_counted_is_no_zero_in_the_mean(labelled, answered):
    items = labelled([True, True, True], types=[A, A, B])
    answers = answered([True, True, True], types=[A, A, A])
    answers = replace(answers, status=np.array(["ok", "ok", "parse_fail"]))
    assert fault_types(items, under(answers, "answered"))["type_macro_f1"].value == 1.0
    # Counted and missed, it is one: (0.8 + 0) / 2 where three were named A, two of them rightly.
    answers = answered([True, True, True], types=[A, A, A])
    assert typed(items, answers)["type_macro_f1"] == pytest.approx(0.4)
