"""The moving average of the weights against a loop over the definition."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from unknot.train.held_out import WeightAverage


def test_the_average_is_its_recursion() -> None:
    model = nn.Linear(3, 2)
    average = WeightAverage(model, decay=0.2)
    expected = model.weight.detach().clone()
    for step in range(1, 6):
        with torch.no_grad():
            model.weight.add_(step)
        average.update(step)
        decay = min(0.2, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    torch.testing.assert_close(average.state_dict()["weight"], expected)


def test_the_weights_come_back_after_use_even_after_an_error() -> None:
    model = nn.Linear(3, 2)
    average = WeightAverage(model, decay=0.9)
    with torch.no_grad():
        model.weight.add_(1.0)
    now = model.weight.detach().clone()

    def use() -> None:
        torch.testing.assert_close(model.weight.detach(), now - 1.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), average.in_use():
        use()
    assert torch.equal(model.weight.detach(), now)


def test_buffers_and_frozen_weights_are_not_averaged() -> None:
    model = nn.BatchNorm1d(2)
    model.bias.requires_grad_(False)
    average = WeightAverage(model, decay=0.0)
    model.running_mean.fill_(7.0)  # type: ignore[union-attr]
    assert len(average.averages) == 1
    assert average.state_dict()["running_mean"].tolist() == [7.0, 7.0]


def test_a_saved_average_goes_on() -> None:
    model, other = nn.Linear(3, 2), nn.Linear(3, 2)
    saved = WeightAverage(model, decay=0.5).state_dict()
    average = WeightAverage(other, decay=0.5)
    average.load_state_dict(saved)
    assert torch.equal(average.state_dict()["weight"], model.weight)
