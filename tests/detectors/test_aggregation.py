"""From steps to the run, against the formulas worked out in plain arithmetic."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")

from trajaudit.detectors.aggregation import attended, highest, noisy_or  # noqa: E402

STEPS = [0.5, 0.2, 0.05]
MASK = torch.tensor([[True, True, True, False]])


def logits(*probabilities: float) -> torch.Tensor:
    return torch.logit(torch.tensor([[*probabilities, 0.999]]))


def test_noisy_or_is_one_minus_the_chance_that_no_step_is_faulty() -> None:
    expected = 1 - math.prod(1 - p for p in STEPS)
    assert torch.sigmoid(noisy_or(logits(*STEPS), MASK)).item() == pytest.approx(expected, abs=1e-6)


def test_noisy_or_stays_finite_and_differentiable_at_either_end() -> None:
    for value in (-40.0, 40.0):
        steps = torch.full((1, 4), value, requires_grad=True)
        noisy_or(steps, MASK).sum().backward()
        assert steps.grad is not None
        assert torch.isfinite(steps.grad).all()


def test_a_step_that_does_not_exist_counts_in_no_aggregation() -> None:
    relevance = torch.zeros(1, 4)
    assert torch.sigmoid(highest(logits(*STEPS), MASK)).item() == pytest.approx(0.5)
    mean = sum(math.log(p / (1 - p)) for p in STEPS) / 3
    assert attended(logits(*STEPS), relevance, MASK).item() == pytest.approx(mean, abs=1e-6)
