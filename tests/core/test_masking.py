"""Items outside a where block count nothing, pass no gradient, and may hold anything."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

import unknot
from unknot.core.distributions import finite, held

ACTIVE = torch.tensor([True, False, True])
BAD = [math.inf, -math.inf]


def families(bad: float) -> dict[str, dict[str, Any]]:
    wrong = torch.tensor([[0.5, 0.2], [bad, bad], [0.1, 0.4]])
    return {
        "normal": {"loc": wrong, "scale": torch.ones(3, 2)},
        "laplace": {"loc": wrong, "scale": torch.ones(3, 2)},
        "log_normal": {"loc": wrong, "scale": torch.ones(3, 2)},
        "bernoulli": {"logits": wrong},
        "concrete": {"logits": wrong, "temperature": 0.66},
        "relaxed_bernoulli": {"logits": wrong, "temperature": 0.66},
        "gamma": {"concentration": wrong.abs(), "rate": torch.ones(3, 2)},
        "poisson": {"rate": wrong.abs()},
    }


def gradients(family: str, arguments: dict[str, Any], rows: Tensor) -> list[Tensor]:
    """Of all parameters, at the active items, for a site and an observation computed from it by a network."""
    leaves = {
        key: value[rows].clone().requires_grad_() if isinstance(value, Tensor) else value
        for key, value in arguments.items()
    }
    weight = torch.tensor([0.3, -0.2], requires_grad=True)
    torch.manual_seed(0)
    q, p = unknot.Trace(), unknot.Trace()
    with q.where(ACTIVE[rows]), p.where(ACTIVE[rows]):
        torch.manual_seed(0)
        value = getattr(q, family)(**leaves, name="z")
        p.normal((value * weight).sum(-1), 1.0, value=torch.zeros(len(rows)), name="x")
        p.loss(
            lambda a, b: mse_loss(a, b, reduction="none"), value * weight, torch.ones(len(rows), 2), name="l"
        )
    total = (p.log_prob() - q.log_prob()).sum()
    tensors = [leaf for leaf in leaves.values() if isinstance(leaf, Tensor)]
    found = torch.autograd.grad(total, [*tensors, weight], allow_unused=True)
    return [torch.zeros(()) if one is None else one for one in found]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("family", families(0.0))
def test_no_nan_reaches_a_parameter(family: str, bad: float) -> None:
    with unknot.validation(False):
        for one in gradients(family, families(bad)[family], torch.arange(3)):
            assert bool(one.isfinite().all())


def test_active_items_keep_their_gradient() -> None:
    """By hand: d log N(z; μ, 1) / dμ = z - μ for the active items of an observed site, nothing elsewhere."""
    loc = torch.tensor([0.5, math.inf, 0.1], requires_grad=True)
    p = unknot.Trace()
    with p.where(ACTIVE):
        p.normal(loc, 1.0, value=torch.tensor([1.0, 2.0, 3.0]), name="x")
    p.log_prob().sum().backward()
    assert loc.grad is not None
    torch.testing.assert_close(loc.grad, torch.tensor([0.5, 0.0, 2.9]))


def test_a_parameter_counts_if_some_draw_is_active() -> None:
    """A mask by draw over parameters without that axis: active for one draw is active."""
    loc = torch.zeros(2, 3, requires_grad=True)
    active = torch.tensor([[True, False], [False, False]])
    (slope,) = torch.autograd.grad(held(loc, active, 1).sum(), loc)
    assert slope.tolist() == [[1.0] * 3, [0.0] * 3]


def test_only_what_is_not_finite_is_replaced() -> None:
    value = torch.tensor([[1.0, math.nan], [math.inf, 2.0]])
    assert finite(value, torch.tensor([False, False]), 1).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    kept = finite(value, torch.tensor([True, True]), 1)
    assert kept[1].tolist() == [math.inf, 2.0]
    assert finite(torch.tensor([1, 2]), torch.tensor([False, True]), 1).tolist() == [1, 2]
