"""Sums in log space and masked values."""

import math

import torch

from unknot.core.log_space import log_mean_exp, where_known, where_unknown


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
