"""The loss: what is not known teaches nothing, and what is known to be missed is allowed for."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")

from trajaudit.detectors.loss import class_weights, missed_positives, per_run  # noqa: E402
from trajaudit.detectors.targets import targets_of  # noqa: E402
from trajaudit.trajectory import Fault, Label  # noqa: E402

TYPES = ("wrong_tool", "premature_stop")
CLEAN, LOCATED = Label(False), Label(True, (Fault("wrong_tool", 1),))
UNLOCATED, UNTYPED = Label(True, (Fault("wrong_tool"),)), Label(True)


def test_a_fault_without_a_step_teaches_the_run_and_nothing_of_its_steps() -> None:
    found = targets_of([CLEAN, LOCATED, UNLOCATED, UNTYPED, None], [2] * 5, 3, TYPES)
    assert found.run[:, 0].tolist() == [0, 1, 1, 1, 0]
    assert found.run_known.tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert found.units_known[:, 0, 0].tolist() == [1, 1, 0, 0, 0]
    assert found.units[1].tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]


def test_a_fault_in_the_final_answer_counts_for_its_step_and_for_the_answer() -> None:
    label = Label(True, (Fault("wrong_tool", 1, "final_answer"),))
    assert targets_of([label], [2], 3, TYPES).units[0, :, 0].tolist() == [0, 1, 1]


def test_an_unlabelled_run_has_no_loss_and_no_gradient() -> None:
    run, units = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3, 3, requires_grad=True)
    exists = torch.ones(2, 3, dtype=torch.bool)
    losses = per_run(run, units, exists, targets_of([CLEAN, None], [2, 2], 3, TYPES), None)
    losses.sum().backward()
    assert losses[1] == 0
    assert run.grad is not None
    assert run.grad[1].abs().sum() == 0
    assert run.grad[0].abs().sum() > 0


def test_class_weights_are_negatives_over_positives() -> None:
    weights = class_weights([targets_of([CLEAN, LOCATED, LOCATED, LOCATED], [2] * 4, 3, TYPES)])
    assert weights.run.tolist() == pytest.approx([1 / 3, 1 / 3, 1.0])
    assert weights.units.tolist() == pytest.approx([9 / 3, 9 / 3, 1.0])


def test_allowing_for_missed_positives_finds_the_true_rate_and_not_the_labels() -> None:
    """Of 100 runs 60 are faulty and half of these are labelled clean: the best constant is 0.6, not 0.3."""
    logit = torch.zeros(1, requires_grad=True)
    labels = torch.tensor([1.0] * 30 + [0.0] * 70)
    optimizer = torch.optim.LBFGS([logit], max_iter=50)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        seen = missed_positives(logit, 0.5).expand(100)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(seen, labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    assert torch.sigmoid(logit).item() == pytest.approx(0.6, abs=1e-3)


def test_focal_loss_turns_to_what_is_wrong() -> None:
    target = targets_of([LOCATED, LOCATED], [2, 2], 3, TYPES)
    exists = torch.ones(2, 3, dtype=torch.bool)
    logits = torch.tensor([[3.0, 0, 0], [-3.0, 0, 0]])
    units = torch.zeros(2, 3, 3)
    plain, focal = (per_run(logits, units, exists, target, None, focal=on) for on in (False, True))
    assert (focal[1] - focal[0]) / focal[0] > (plain[1] - plain[0]) / plain[0]
