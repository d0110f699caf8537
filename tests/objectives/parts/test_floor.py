"""The floor: where it lets the bound be, where it leaves the price, and the error that it is there for."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unknot import Trace
from unknot.objectives import decompose, elbo
from unknot.objectives.parts.floor import floored
from unknot.objectives.table_one import hfvae

SIZE = 10_000


def traces(means: Tensor, scale: float) -> tuple[Trace, Trace]:
    q, p = Trace(), Trace()
    z = q.normal(means, torch.full_like(means, scale), name="z")
    p.normal(torch.zeros(means.shape[-1]), 1.0, value=z, name="z")
    p.normal(torch.zeros(1), 1.0, value=torch.zeros(len(means), 1), name="x")
    return q, p


def independent(items: int, dimensions: int, scale: float) -> Tensor:
    """Means whose q(z), over all items, is N(0, 1) in every dimension: no correlation at all."""
    return math.sqrt(1 - scale**2) * torch.randn(items, dimensions)


def test_without_correlation_the_estimate_is_below_zero_and_less_so_in_larger_batches():
    torch.manual_seed(0)
    found = {}
    for items in (64, 256):
        q, p = traces(independent(items, 8, 0.6), 0.6)
        found[items] = -float(decompose(q, p, SIZE, parents={name: [] for name in q})["within"].mean())
    assert found[64] < found[256] < 0


def test_below_zero_the_objective_is_the_bound_with_its_gradient():
    torch.manual_seed(1)
    means = independent(64, 8, 0.6).requires_grad_()
    q, p = traces(means, 0.6)
    held = hfvae(q, p, SIZE, beta=4.0, gamma=3.0, floor=True, parents={name: [] for name in q})
    assert torch.allclose(held.total, elbo(q, p).total, rtol=1e-5)
    (ours,) = torch.autograd.grad(held.loss, means, retain_graph=True)
    (bound,) = torch.autograd.grad(elbo(q, p).loss, means)
    assert torch.allclose(ours, bound, atol=1e-6)


def test_above_zero_the_price_is_as_without():
    torch.manual_seed(2)
    q, p = traces(torch.randn(64, 1).expand(64, 3).contiguous(), 0.3)  # three times the same code
    held, priced = (
        hfvae(q, p, SIZE, beta=4.0, gamma=3.0, floor=floor, parents={name: [] for name in q})
        for floor in (True, False)
    )
    assert float(held.total) == float(priced.total)
    assert float(held.weights["within"]) == 3.0


def test_terms_that_are_no_correlation_keep_their_weights():
    values = {name: torch.ones(3) for name in ("mutual_information", "marginal", "between[style]")}
    found = floored(values, {"mutual_information": 2.0, "marginal": 5.0, "between[style]": 7.0})
    assert {name: float(weight) for name, weight in found.items()} == {
        "mutual_information": 2.0,
        "marginal": 5.0,
        "between[style]": 1.0,
    }
