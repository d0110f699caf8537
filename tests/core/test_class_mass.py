"""The linear mass of a vector that stands for a class."""

import math

import pytest
import torch

from unknot.core.class_mass import class_mass


def test_agrees_with_a_sum_by_hand() -> None:
    generator = torch.Generator().manual_seed(0)
    logits, value = torch.randn(3, 4, generator=generator), torch.rand(3, 4, generator=generator)
    for row in range(3):
        total = sum(math.exp(one) for one in logits[row].tolist())
        pairs = zip(value[row].tolist(), logits[row].tolist(), strict=True)
        expected = sum(y * (one - math.log(total)) for y, one in pairs)
        assert class_mass(value, logits)[row].item() == pytest.approx(expected, rel=1e-5)


def test_masked_classes_count_nothing_or_make_a_value_impossible() -> None:
    logits = torch.tensor([0.0, 0.0, -math.inf], requires_grad=True)
    value = torch.tensor([[0.25, 0.75, 0.0], [0.25, 0.5, 0.25]], requires_grad=True)
    mass = class_mass(value, logits)
    assert mass.tolist() == [pytest.approx(-math.log(2)), -math.inf]
    for slope in torch.autograd.grad(mass[0], (logits, value)):
        assert bool(slope.isfinite().all())
