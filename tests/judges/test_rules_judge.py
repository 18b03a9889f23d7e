"""The rule checker as a judge: the earliest violation is the verdict, all of them are the evidence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from scripted_chat import refund_run

from trajaudit.auditor import spec_hash
from trajaudit.judges.rules import RulesJudge
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Usage


@dataclass(frozen=True)
class Violation:
    rule: str
    step: int | None
    type: str
    message: str


EARLY = Violation("R4", 0, "hallucinated_argument", "ORD-9 appears nowhere earlier")
LATE = Violation("R2", 1, "skipped_precondition", "refund without a check")
NOWHERE = Violation("R8", None, "premature_stop", "no reply")


def found(*violations: Violation, **settings):
    def check(trajectory: Trajectory) -> list[Violation]:
        return list(violations)

    return asyncio.run(RulesJudge(check, **settings).judge(refund_run()))


def test_the_earliest_violation_gives_step_and_type_and_the_evidence_lists_all():
    verdict = found(NOWHERE, LATE, EARLY)
    assert (verdict.faulty, verdict.step, verdict.types) == (True, 0, ("hallucinated_argument",))
    assert verdict.rationale == "R4: ORD-9 appears nowhere earlier"
    assert verdict.evidence == (
        Evidence(0, note="R4: ORD-9 appears nowhere earlier"),
        Evidence(1, note="R2: refund without a check"),
        Evidence(None, note="R8: no reply"),
    )


def test_the_confidences_are_the_published_ones_unless_given():
    assert (found(EARLY).confidence, found(EARLY).score) == (0.95, 0.95)
    assert found().confidence == 0.6
    assert found().score == pytest.approx(0.4)
    assert found(flagged=0.8, clean=0.9).score == pytest.approx(0.1)


def test_rules_cost_nothing():
    assert found(EARLY).usage == Usage(0, 0, 0, 0, 0.0)


def test_another_version_of_the_rules_is_another_auditor():
    def check(trajectory: Trajectory) -> list[Violation]:
        return []

    specs = [RulesJudge(check, **settings).spec for settings in ({}, {"version": 2}, {"clean": 0.5})]
    assert len({spec_hash(spec) for spec in specs}) == 3
