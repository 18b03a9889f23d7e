"""What is logged of held-out runs: once over all of them, and not at all where it is not defined."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.logs import Logging  # noqa: E402
from trajaudit.detectors.module import DetectorModule  # noqa: E402
from trajaudit.detectors.network import Network, Output  # noqa: E402
from trajaudit.detectors.targets import targets_of  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.trajectory import Label  # noqa: E402


class Given(torch.nn.Module):
    """Heads that say what they are told."""

    def forward(self, scores, batch) -> Output:
        run = torch.logit(torch.tensor(scores))[:, None]
        return Output(run, run[:, None], torch.ones(len(run), 1, dtype=torch.bool), None)


def logged(batches: list[tuple[list[float], list[int]]], monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What a validation over (scores, labels) batches logs."""
    module, found = DetectorModule(Network(None, Given()), None, Training(), 0), {}
    monkeypatch.setattr(module, "log", lambda name, value: found.__setitem__(name, value))
    module.on_validation_epoch_start()
    for scores, labels in batches:
        targets = targets_of([Label(bool(one)) for one in labels], [0] * len(labels), 1, ())
        module.validation_step(SimpleNamespace(vectors=scores, targets=targets), 0)
    module.on_validation_epoch_end()
    return found


def test_the_auc_is_that_of_all_runs_and_not_the_mean_of_batches(monkeypatch) -> None:
    """Scores .9 .8 .2 .1 of labels 1 0 1 0: each batch alone is perfect, together it is .75."""
    whole = logged([([0.9, 0.8, 0.2, 0.1], [1, 0, 1, 0])], monkeypatch)
    parts = logged([([0.9, 0.8], [1, 0]), ([0.2, 0.1], [1, 0])], monkeypatch)
    assert whole["val_auc"] == parts["val_auc"] == 0.75
    assert whole["val_loss"] == pytest.approx(parts["val_loss"])


def test_uneven_batches_do_not_weigh_runs_unevenly(monkeypatch) -> None:
    whole = logged([([0.9, 0.3, 0.2], [1, 0, 1])], monkeypatch)
    parts = logged([([0.9, 0.3], [1, 0]), ([0.2], [1])], monkeypatch)
    assert whole["val_loss"] == pytest.approx(parts["val_loss"])


def test_an_auc_over_one_class_is_not_logged(monkeypatch) -> None:
    assert "val_auc" not in logged([([0.9, 0.8], [1, 1]), ([0.7], [1])], monkeypatch)


def test_each_job_has_a_run_of_its_own_that_ends_with_its_own_status(tmp_path: Path, monkeypatch) -> None:
    """Three jobs of one process, the second of which raises."""
    wandb = pytest.importorskip("wandb", reason="W&B is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    ended: list[tuple[int, int]] = []
    numbers = iter(range(3))

    def init(**given):
        number = next(numbers)
        return SimpleNamespace(finish=lambda exit_code: ended.append((number, exit_code)))

    monkeypatch.setattr(wandb, "init", init)
    for fails in (False, True, False):
        try:
            with Logging("offline").job(tmp_path, "job", {}):
                if fails:
                    raise OSError("the disk is full")
        except OSError:
            pass
    assert ended == [(0, 0), (1, 1), (2, 0)]
