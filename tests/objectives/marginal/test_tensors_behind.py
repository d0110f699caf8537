"""All tensors of a distribution, through whatever it is made of."""

import torch
from torch.distributions import (
    AffineTransform,
    Categorical,
    Independent,
    MixtureSameFamily,
    Normal,
    TransformedDistribution,
)

from unknot.objectives.marginal.tensors_behind import tensors_behind


def test_parts_of_parts_are_found():
    weights, loc, scale, shift = torch.zeros(3), torch.ones(3, 2), torch.ones(3, 2), torch.tensor(2.0)
    mixed = MixtureSameFamily(Categorical(logits=weights), Independent(Normal(loc, scale), 1))
    found = [tensor.data_ptr() for tensor in tensors_behind(mixed)]
    assert {loc.data_ptr(), scale.data_ptr()} <= set(found)
    flow = TransformedDistribution(Normal(loc, scale), [AffineTransform(shift, 3.0)])
    assert shift.data_ptr() in [tensor.data_ptr() for tensor in tensors_behind(flow)]


def test_a_transform_and_its_inverse_hold_each_other():
    transform = AffineTransform(torch.ones(2), 2.0)
    assert transform.inv.inv is transform
    assert len(tensors_behind(TransformedDistribution(Normal(0.0, 1.0), [transform.inv]))) >= 1
