"""Two products and a logarithm: against a double loop, and the gradients against finite differences."""

from __future__ import annotations

import math

import torch

from unknot.objectives.marginal.log_products import log_products

R, C, J, K = 4, 5, 2, 3


def inputs() -> list[torch.Tensor]:
    """a, b, weight, e, f; the second row has no logarithm, as that of a label."""
    torch.manual_seed(0)
    shapes = (R, J), (C, J), (R,), (R, K), (C, K)
    a, b, weight, e, f = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
    weight[1] = 0.0
    return [a, b, weight, e.exp(), f.exp()]


def test_it_is_the_double_loop() -> None:
    a, b, weight, e, f = inputs()
    for dtype in (torch.float64, torch.float32):
        found, sums = log_products(a, b, weight, e, f, dtype)
        assert found.dtype == dtype
        for r in range(R):
            for c in range(C):
                inside = sum(float(e[r, k] * f[c, k]) for k in range(K))
                wanted = float(a[r] @ b[c]) + float(weight[r]) * math.log(inside)
                torch.testing.assert_close(found[r, c].item(), wanted, rtol=1e-5, atol=1e-6)
                torch.testing.assert_close(sums[r, c].item(), inside, rtol=1e-5, atol=1e-6)


def test_its_gradients_are_those_of_finite_differences() -> None:
    a, b, weight, e, f = inputs()
    leaves = tuple(tensor.requires_grad_() for tensor in (a, b, e, f))

    def function(a: torch.Tensor, b: torch.Tensor, e: torch.Tensor, f: torch.Tensor) -> torch.Tensor:
        return log_products(a, b, weight, e, f, torch.float64)[0]

    assert torch.autograd.gradcheck(function, leaves)


def test_only_the_gradients_that_are_asked_for_are_worked_out() -> None:
    a, b, weight, e, f = inputs()
    f.requires_grad_()
    log_products(a, b, weight, e, f, torch.float32)[0].sum().backward()
    assert f.grad is not None
    assert f.grad.dtype == torch.float64


def test_the_operator_keeps_its_promises_to_autograd_and_compile() -> None:
    a, b, weight, e, f = inputs()
    torch.library.opcheck(log_products, (a, b, weight, e, f, torch.float64))
