"""The whole support as an axis: which families have one, its values, and what labels do to the weights."""

from __future__ import annotations

import pytest
import torch
import torch.distributions as td

import unknot
from unknot.core import gradients
from unknot.core.relaxed import BinaryConcrete, Concrete

K = 3
FINITE = {
    "categorical": (td.Categorical(logits=torch.zeros(2, K)), [0, 1, 2]),
    "one_hot": (td.OneHotCategorical(logits=torch.zeros(2, K)), torch.eye(K).tolist()),
    "concrete": (Concrete(torch.zeros(2, K), 0.66), torch.eye(K).tolist()),
    "bernoulli": (td.Bernoulli(logits=torch.zeros(2)), [0.0, 1.0]),
    "binary_concrete": (BinaryConcrete(torch.zeros(2), 0.66), [0.0, 1.0]),
}


@pytest.mark.parametrize("family", FINITE)
def test_the_support_lists_every_value_once(family: str) -> None:
    dist, values = FINITE[family]
    assert gradients.is_finite(dist)
    support = gradients.support(dist)
    assert support.tolist() == values
    masses = torch.stack([dist.log_prob(value.expand(2, *value.shape)).exp() for value in support])
    torch.testing.assert_close(masses.sum(0), torch.ones(2))


def test_a_continuous_or_unbounded_family_has_no_list() -> None:
    assert not gradients.is_finite(td.Normal(0.0, 1.0))
    assert not gradients.is_finite(td.Poisson(1.0))


def test_a_known_label_has_all_the_weight() -> None:
    q = unknot.Trace()
    labels = unknot.partial(torch.tensor([2, -1]))
    value = q.categorical(logits=torch.zeros(2, K), value=labels, name="k", gradient="enumerate")
    assert value.shape == (K, 1, 1)  # all items share the values
    torch.testing.assert_close(q["k"].weight[:, 0].T, torch.tensor([[0.0, 0.0, 1.0], [1 / 3] * 3]))
