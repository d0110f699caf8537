"""The two busiest distributions are torch's own, whatever their arguments."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, Normal

from unknot.core import unbroadcast

TENSOR = torch.tensor([[0.5, -1.0], [2.0, 0.1]])


@pytest.mark.parametrize(
    ("loc", "scale"),
    [
        (TENSOR, TENSOR.exp()),
        (TENSOR, 2.0),
        (0.0, TENSOR.exp()),
        (0.0, 1.0),
        (TENSOR, torch.tensor([1.0, 2.0])),
    ],
    ids=["same shape", "number", "number first", "numbers", "broadcast"],
)
def test_normal(loc: Tensor | float, scale: Tensor | float) -> None:
    ours, torchs = unbroadcast.normal(loc, scale), Normal(loc, scale)
    assert type(ours) is Normal
    assert ours.batch_shape == torchs.batch_shape
    torch.testing.assert_close(ours.log_prob(TENSOR), torchs.log_prob(TENSOR))
    torch.testing.assert_close(ours.expand((3, 2, 2)).mean, torchs.expand((3, 2, 2)).mean)


@pytest.mark.parametrize(
    "arguments",
    [{"logits": TENSOR}, {"probs": TENSOR.sigmoid()}, {"probs": 0.3}, {"logits": 0.3}],
    ids=["logits", "probs", "one probability", "one logit"],
)
def test_bernoulli(arguments: dict[str, Tensor | float]) -> None:
    given = {"probs": None, "logits": None, **arguments}
    ours, torchs = unbroadcast.bernoulli(**given), Bernoulli(**arguments)
    assert type(ours) is Bernoulli
    assert ours.batch_shape == torchs.batch_shape
    value = torch.ones(2, 2)
    torch.testing.assert_close(ours.log_prob(value), torchs.log_prob(value))
    torch.testing.assert_close(ours.probs, torchs.probs)
