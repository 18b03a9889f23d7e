"""A false-alarm budget on small sets: what the inner fits promise, they keep, on whatever scale each of them scores."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sample_runs import make_run
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from trajaudit.detectors import out_of_fold as room
from trajaudit.detectors.calibration import Calibration, promised
from trajaudit.detectors.ensemble import middle
from trajaudit.detectors.folds import Fold
from trajaudit.detectors.out_of_fold import out_of_fold
from trajaudit.trajectory import Fault, Label, Trajectory
from trajaudit.verdict import Usage, Verdict

BUDGET, DRAWS, CLEAN, TESTED = 0.1, 40, 30, 60


class Erratic:
    """Reads a run's signal with an error, a slope and a shift of its own; all follow from what it was fitted on."""

    name = "erratic"
    spec: dict = {}  # noqa: RUF012

    def __init__(self, scales: bool) -> None:
        self.scales = scales

    def fit(self, runs, folder: Path) -> None:
        self.seed = zlib.crc32("".join(run.id for run in runs).encode())
        random = np.random.default_rng(self.seed)
        self.slope, self.shift = (random.uniform(0.1, 4), random.normal(0, 3)) if self.scales else (1.0, 0.0)

    def predict(self, runs) -> list[Verdict]:
        return [self._verdict(run) for run in runs]

    def _verdict(self, run: Trajectory) -> Verdict:
        own = np.random.default_rng((self.seed, zlib.crc32(run.id.encode()))).normal(0, 0.5)
        score = float(expit(self.slope * (run.source.meta["signal"] + own) + self.shift))
        return Verdict(run.id, run.content_hash, self.name, "s", faulty=score > 0.5, score=score)


def drawn(clean: int, faulty: int, seed: int, prefix: str) -> tuple[Trajectory, ...]:
    """Runs with a signal of mean 0 where they are clean and 2 where not, each a group of its own."""
    random, found = np.random.default_rng(seed), []
    for i in range(clean + faulty):
        label = Label(False) if i < clean else Label(True, (Fault("wrong_tool", 1),))
        run = make_run(f"{prefix}{seed}-{i}", f"{prefix}{seed}-{i}", label, steps=2)
        signal = float(random.normal(0 if i < clean else 2, 1))
        meta = {**run.source.meta, "signal": signal}
        task = " ".join(f"{prefix}{i}w{word}" for word in range(20))  # else all would be near-duplicates
        found.append(replace(run, task=task, source=replace(run.source, meta=meta)))
    return tuple(found)


def asked(how: Calibration, scales: bool, seed: int, folder: Path) -> room.Tested:
    """One small draw, fitted and tested, with as many faulty runs as clean ones to train on."""
    train, test = drawn(CLEAN, CLEAN, seed, "a"), drawn(TESTED, TESTED, seed, "b")
    (tested,) = out_of_fold(lambda: Erratic(scales), [Fold("f", train, test)], how, folder / str(seed), {})
    return tested


def rates(how: Calibration, scales: bool, folder: Path) -> np.ndarray:
    """The share of clean test runs that is flagged, in each of many draws, [DRAWS]."""
    found = []
    for seed in range(DRAWS):
        tested = asked(how, scales, seed, folder)
        flagged = zip(tested.verdicts, tested.fold.test, strict=True)
        found.append(np.mean([verdict.faulty for verdict, run in flagged if not run.label.faulty]))
    return np.array(found)


def tolerance(n: int) -> float:
    """Three standard errors of the mean rate over the draws.

    In one draw the threshold's own rate follows a beta law, with variance b (1 - b) / (n + 2) for n clean runs held
    out, and what is seen of it a binomial one, b (1 - b) / TESTED.
    """
    return 3 * float(np.sqrt(BUDGET * (1 - BUDGET) * (1 / (n + 2) + 1 / TESTED) / DRAWS))


@pytest.mark.parametrize("scales", [False, True])
def test_inner_fits_keep_the_budget_that_they_promised(scales: bool, tmp_path: Path) -> None:
    mean = rates(Calibration(folds=3, false_alarms=BUDGET), scales, tmp_path).mean()
    assert BUDGET / 2 < mean <= BUDGET + tolerance(CLEAN)


@pytest.mark.parametrize("scales", [False, True])
def test_one_part_held_out_keeps_the_budget_and_leaves_little_of_it(scales: bool, tmp_path: Path) -> None:
    """Of 15 clean runs held out the conformal quantile is the 15th: a new one is above it once in 16."""
    mean = rates(Calibration(folds=1, share=0.5, false_alarms=BUDGET), scales, tmp_path).mean()
    assert mean == pytest.approx(1 / 16, abs=tolerance(CLEAN // 2))


def test_a_threshold_of_one_fit_means_nothing_to_another(tmp_path: Path) -> None:
    """What the construction is for: promised on an inner fit's scores, the budget is broken by a fit on all runs."""
    found = []
    for seed in range(DRAWS):
        train, test = drawn(CLEAN, CLEAN, seed, "a"), drawn(TESTED, 0, seed, "b")
        inner, again = Erratic(True), Erratic(True)
        inner.fit(train[::2], tmp_path)
        again.fit(train, tmp_path)
        held = [v.score or 0.0 for v, run in zip(inner.predict(train), train, strict=True) if not run.label.faulty]
        threshold, _ = promised(held[1::2], BUDGET)
        assert threshold is not None
        found.append(np.mean([(verdict.score or 0.0) > threshold for verdict in again.predict(test)]))
    assert np.mean(found) > BUDGET + tolerance(CLEAN // 2)


def test_fits_on_scales_of_their_own_are_ranked_together(tmp_path: Path) -> None:
    tested = asked(Calibration(folds=3, false_alarms=BUDGET), True, 0, tmp_path)
    faulty = [run.label is not None and run.label.faulty for run in tested.fold.test]
    assert roc_auc_score(faulty, [verdict.score for verdict in tested.verdicts]) > 0.85


def test_too_small_a_set_flags_nothing_and_says_why(tmp_path: Path) -> None:
    tested = asked(Calibration(folds=3, false_alarms=0.02), False, 0, tmp_path)
    assert not any(verdict.faulty for verdict in tested.verdicts)
    assert tested.calibrated.threshold is None
    assert tested.calibrated.reason == (
        "30 clean runs held out cannot promise 0.02 false alarms, 49 could; nothing is flagged"
    )


def test_the_verdict_is_that_of_the_middle_fit_and_costs_what_all_cost() -> None:
    said = [
        Verdict("t", "c", "d", "s", faulty=True, score=score, step=step, usage=Usage(1, 10), latency_s=0.5)
        for score, step in ((0.9, 0), (0.2, 1), (0.6, 2))
    ]
    verdict = middle(said)
    assert (verdict.score, verdict.step, verdict.usage, verdict.latency_s) == (0.6, 2, Usage(3, 30), 1.5)
    assert middle(said[:2]).score == 0.2  # of two the lower one: both must flag a run
    failed = Verdict("t", "c", "d", "s", status="overflow")
    assert middle([*said, failed]).status == "overflow"


def test_a_finished_fold_is_read_whether_or_not_it_says_why_nothing_is_flagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = Calibration(folds=3, false_alarms=BUDGET)
    before = asked(how, False, 0, tmp_path)
    mark = tmp_path / "0" / "fold-0" / "fold.json"
    done = json.loads(mark.read_text())
    del done["calibration"]["reason"]  # as folds were written before there was one
    mark.write_text(json.dumps(done))
    monkeypatch.setattr(room, "_tested", None)
    assert asked(how, False, 0, tmp_path) == before


def test_what_is_decided_at_one_half_is_filed_as_it_was_before() -> None:
    assert Calibration(false_alarms=None).promise == {}
    assert Calibration(folds=0).promise == {}
    assert Calibration().promise == {"budget": "conformal"}
