"""Verdicts stacked: what the hybrid makes of its parts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sample_runs import make_run
from sklearn.linear_model import LogisticRegression

from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.linear import fit_linear, platt
from trajaudit.detectors.stacked import Stacked
from trajaudit.trajectory import Fault, Label, Trajectory
from trajaudit.verdict import Verdict

TYPES = ("wrong_tool", "premature_stop", "unsupported_claim")


def runs(n: int) -> list[Trajectory]:
    """Every other run is faulty; its fault's type goes with its number, and its step, too."""
    made = []
    for i in range(n):
        fault = Fault(TYPES[i // 2 % 3], i // 2 % 3, "action")
        made.append(make_run(f"t{i}", f"g{i // 2}", Label(True, (fault,)) if i % 2 else Label(False)))
    return made


def said(run: Trajectory, part: str, types: tuple[str, ...]) -> Verdict:
    """The verdict of a part that finds exactly the faults of some types."""
    fault = run.label.first if run.label is not None else None
    hit = fault is not None and fault.type in types
    named = (fault.type,) if hit and fault is not None else ()
    step = fault.step if hit and fault is not None else None
    return Verdict(run.id, run.content_hash, part, "s", faulty=hit, score=0.95 if hit else 0.3, step=step, types=named)


def parts(of: list[Trajectory], **found: tuple[str, ...]) -> dict[str, list[Verdict]]:
    return {part: [said(run, part, types) for run in of] for part, types in found.items()}


def test_parts_that_see_different_faults_see_all_of_them_together() -> None:
    train, test = runs(240), runs(60)
    given = {"calls": TYPES[:2], "answers": TYPES[2:]}
    hybrid = Hybrid(("calls", "answers"), TYPES)
    hybrid.fit(train, parts(train, **given))
    for run, verdict in zip(test, hybrid.predict(test, parts(test, **given)), strict=True):
        fault = run.label.first if run.label is not None else None
        assert verdict.faulty is (fault is not None)
        if fault is not None:
            assert (verdict.step, verdict.types) == (fault.step, (fault.type,))


def test_a_part_that_never_errs_is_believed_on_a_fault_of_a_kind_never_shown() -> None:
    shown = [run for run in runs(480) if not (run.label and run.label.first and run.label.first.type == TYPES[2])]
    new = [run for run in runs(60) if run.label and run.label.first and run.label.first.type == TYPES[2]]
    given = {"calls": TYPES[:2], "answers": (TYPES[0], TYPES[2])}
    hybrid = Hybrid(("calls", "answers"), TYPES)
    hybrid.fit(shown, parts(shown, **given))
    assert all(verdict.faulty for verdict in hybrid.predict(new, parts(new, **given)))


def test_the_threshold_keeps_within_the_budget_on_runs_that_it_was_not_fitted_on() -> None:
    random = np.random.default_rng(0)
    train, test = runs(1000), runs(1000)

    def noisy(of: list[Trajectory]) -> dict[str, list[Verdict]]:
        scores = random.beta(2, 2, len(of)) * 0.6 + np.array([0.4 * bool(run.label and run.label.faulty) for run in of])
        return {
            "noisy": [
                Verdict(run.id, run.content_hash, "noisy", "s", faulty=bool(score >= 0.5), score=float(score))
                for run, score in zip(of, scores, strict=True)
            ]
        }

    hybrid = Hybrid(("noisy",), TYPES, budget=0.05)
    hybrid.fit(train, noisy(train))
    alarms = [
        v.faulty for run, v in zip(test, hybrid.predict(test, noisy(test)), strict=True) if run.label == Label(False)
    ]
    assert 0.01 < np.mean(alarms) < 0.1


def test_a_part_without_an_opinion_is_not_one_that_says_clean() -> None:
    train = runs(120)
    given = parts(train, calls=TYPES)
    hybrid = Hybrid(("calls",), TYPES)
    hybrid.fit(train, given)
    silent = Verdict("t1", train[1].content_hash, "calls", "s", "api_error")
    rows = hybrid.columns.runs({"calls": [silent, given["calls"][0]]}, hybrid.alarms)
    assert rows[0].tolist() == [0.0] * len(rows[0])
    assert rows[1].tolist()[1] == 1.0


def test_a_kept_hybrid_is_plain_numbers_and_gives_the_same_verdicts(tmp_path: Path) -> None:
    train = runs(120)
    given = parts(train, calls=TYPES)
    hybrid = Hybrid(("calls",), TYPES)
    hybrid.fit(train, given, tmp_path)
    assert set(json.loads((tmp_path / "hybrid.json").read_text())["heads"]) == {"fault", "type", "step"}
    loaded = Hybrid.load(tmp_path / "hybrid.json")
    for a, b in zip(hybrid.predict(train, given), loaded.predict(train, given), strict=True):
        assert (a.score, a.step, a.types, a.spec_hash) == (b.score, b.step, b.types, b.spec_hash)


def test_verdicts_of_the_wrong_runs_and_missing_parts_are_refused() -> None:
    train = runs(40)
    given = parts(train, calls=TYPES, answers=TYPES)
    hybrid = Hybrid(("calls", "answers"), TYPES)
    with pytest.raises(ValueError, match="no verdicts of answers"):
        hybrid.fit(train, {"calls": given["calls"]})
    with pytest.raises(ValueError, match="same runs in the same order"):
        hybrid.fit(train, {**given, "answers": given["answers"][::-1]})
    with pytest.raises(ValueError, match="clean and faulty"):
        hybrid.fit([run for run in train if run.label == Label(False)], given)


class Memory:
    """A part that flags the faulty runs that it was fitted on and no others: perfect in sample, useless out of it."""

    name = "memory"

    def __init__(self) -> None:
        self.spec: dict[str, object] = {}

    def fit(self, runs: list[Trajectory], folder: Path) -> None:
        self.known = {run.id for run in runs if run.label and run.label.faulty}

    def predict(self, runs: list[Trajectory]) -> list[Verdict]:
        return [
            Verdict(
                run.id, run.content_hash, self.name, "s", faulty=run.id in self.known, score=float(run.id in self.known)
            )
            for run in runs
        ]


def test_the_hybrid_learns_from_verdicts_on_runs_that_its_parts_did_not_see(tmp_path: Path) -> None:
    train = runs(200)
    stacked = Stacked({"memory": Memory}, Hybrid(("memory",), TYPES))  # type: ignore[dict-item]
    stacked.fit(train, tmp_path)
    assert not any(verdict.faulty for verdict in stacked.learnt_from["memory"])
    assert all(abs(verdict.score - 0.5) < 0.05 for verdict in stacked.predict(train) if verdict.score is not None)


def test_weights_kept_as_json_give_scikit_learns_probabilities() -> None:
    random = np.random.default_rng(1)
    rows, names = random.normal(size=(300, 4)), [str(c) for c in random.integers(0, 3, 300)]
    reference = LogisticRegression(C=1.0, max_iter=2000).fit(rows, names).predict_proba(rows)
    assert np.allclose(fit_linear(rows, names, 1.0).probabilities(rows), reference, atol=1e-4)


def test_platt_never_claims_more_than_so_many_examples_can_support() -> None:
    logits, positive = np.array([-3.0] * 50 + [3.0] * 50), np.array([False] * 50 + [True] * 50)
    slope, intercept = platt(logits, positive)
    assert 1 / (1 + np.exp(-(slope * 3 + intercept))) == pytest.approx(51 / 52, abs=1e-3)
