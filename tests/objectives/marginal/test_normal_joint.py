"""All pairs of normals by one product: against torch's own densities, also where squares cancel, gradients included."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import Independent, Normal

from unknot.objectives.marginal.variable_pairs import normal_joint

R, C, D = 7, 5, 3


def inputs(width: float) -> tuple[Tensor, Tensor, Tensor]:
    """Draws near one of the items, and the items."""
    torch.manual_seed(0)
    loc, scale = 3 * torch.randn(C, D), width * (0.5 + torch.rand(C, D))
    return loc[torch.arange(R) % C] + width * torch.randn(R, D), loc, scale


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_all_pairs_are_torch_s_also_where_squares_cancel(width: float) -> None:
    value, loc, scale = inputs(width)
    value, loc, scale = value.double(), loc.double(), scale.double()
    found = normal_joint(value, loc, scale)
    wanted = Independent(Normal(loc, scale), 1).log_prob(value[:, None])
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_the_slopes_are_torch_s_also_where_squares_cancel(width: float) -> None:
    ours = [tensor.requires_grad_() for tensor in inputs(width)]
    theirs = [tensor.detach().double().requires_grad_() for tensor in ours]
    slopes = torch.randn(R, C)
    (normal_joint(*ours) * slopes).sum().backward()
    value, loc, scale = theirs
    wanted = Independent(Normal(loc, scale), 1).log_prob(value[:, None])
    (wanted * slopes).sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        assert one.grad is not None
        assert one.grad.dtype == torch.float32
        torch.testing.assert_close(one.grad.double(), other.grad, rtol=1e-5, atol=1e-5)
