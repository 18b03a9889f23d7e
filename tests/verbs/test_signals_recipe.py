"""The signals of real runs, from the command to what is claimed of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajaudit.datasets.smart_grid import FILES, smart_grid, smart_grid_judgments
from trajaudit.verbs.recipes.signals import ONE_CALL, cut_finding, judge_noise, judged_flags


@pytest.fixture(scope="module")
def told(data_dir: Path):
    if not (data_dir / FILES[0]).is_file():
        pytest.skip(f"{FILES[0]} is not in {data_dir}")
    return smart_grid(data_dir=str(data_dir)), smart_grid_judgments(data_dir=str(data_dir))


def test_only_runs_with_a_settled_label_are_measured(told) -> None:
    runs = judged_flags(*told)
    assert runs.present.shape == (2228, 5)
    assert int(runs.faulty.sum()) == 1141
    assert len(set(runs.groups)) == 31


def test_the_judges_noise_is_measured_on_the_runs_it_judged_again(told) -> None:
    noise = judge_noise(*told, resamples=300, seed=0, level=0.95)
    assert len(noise) == 6
    for agreement, kappa in noise.values():
        assert agreement.n == 251
        assert kappa.low < kappa.value < agreement.value


def test_runs_that_the_judge_saw_cut_are_told_apart(told) -> None:
    runs, _ = told
    assert sum(not run.source.meta["judge_saw_all"] for run in runs) == 469
    assert "of the 467 runs that it saw cut it calls 0.756 hallucinating, of the 1761" in cut_finding(runs)


def test_it_is_said_that_flags_and_label_are_one_opinion() -> None:
    assert "one call of one judge" in ONE_CALL
