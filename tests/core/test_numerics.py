"""Numerical helpers."""

from __future__ import annotations

import math

import pytest
import torch

from unknot.core.numerics import all_finite, class_mass, log_mean_exp, seen_finite, where_known, where_unknown

# ---- The linear mass of a vector that stands for a class.


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


# ---- One look at a sum.


def test_sees_what_is_not_finite() -> None:
    assert seen_finite(torch.zeros(0))
    assert seen_finite(torch.tensor([1e30, -3.0]))
    for bad in (torch.nan, torch.inf, -torch.inf):
        assert not seen_finite(torch.tensor([1.0, bad, 2.0]))
    assert not seen_finite(torch.tensor([torch.inf, -torch.inf]))


def test_takes_no_look_while_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not seen_finite(torch.zeros(3))


def test_several_tensors_at_once() -> None:
    assert all_finite([])
    assert all_finite([torch.zeros(3), torch.ones(2, 2, dtype=torch.float64), torch.tensor(4)])
    for bad in (torch.nan, torch.inf, -torch.inf):
        assert not all_finite([torch.zeros(3), torch.tensor([[0.0, bad]])])
    assert not all_finite([torch.tensor([torch.inf]), torch.tensor([-torch.inf])])


# ---- Sums in log space and masked values.


def test_log_mean_exp() -> None:
    values = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(log_mean_exp(values, 0), values.exp().mean(0).log())
    assert log_mean_exp(torch.tensor([-1000.0, -1000.0]), 0) == -1000
    low = torch.tensor([0.0, -math.inf])
    torch.testing.assert_close(log_mean_exp(low, 0), torch.tensor(-math.log(2)))


def test_known_and_unknown_split_the_values() -> None:
    values = torch.tensor([1.0, 2.0, 3.0])
    known = torch.tensor([True, False, True])
    for mask in (known, True, False):
        assert torch.equal(where_known(mask, values) + where_unknown(mask, values), values)
    assert where_known(known, values).tolist() == [1.0, 0.0, 3.0]
    assert where_known(True, values) is values
    assert where_unknown(True, values).tolist() == [0.0, 0.0, 0.0]


def test_masked_values_are_zero_even_if_they_are_not_numbers() -> None:
    values = torch.tensor([float("nan"), 1.0], requires_grad=True)
    kept = where_known(torch.tensor([False, True]), values)
    kept.sum().backward()
    assert kept.tolist() == [0.0, 1.0]
    assert values.grad is not None
    assert values.grad.tolist() == [0.0, 1.0]
