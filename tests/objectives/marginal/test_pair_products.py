"""All pairs by one product: against a double loop, and its gradients against finite differences."""

from __future__ import annotations

import torch

from unknot.objectives.marginal.pair_products import pair_products, slopes_times

R, C, K = 4, 5, 3


def factors() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(R, K, dtype=torch.float64), torch.randn(C, K, dtype=torch.float64)


def test_it_is_the_double_loop() -> None:
    rows, columns = factors()
    wanted = torch.tensor([[float(rows[r] @ columns[c]) for c in range(C)] for r in range(R)])
    found = pair_products(rows, columns, torch.float32)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, wanted)


def test_large_terms_may_cancel() -> None:
    """1e8 and -1e8 leave nothing of a one beside them in float32."""
    rows, columns = torch.tensor([[1e8, 1.0, -1e8]]), torch.ones(1, 3)
    assert pair_products(rows, columns, torch.float32).item() == 1.0


def test_its_gradients_are_those_of_finite_differences() -> None:
    rows, columns = (tensor.requires_grad_() for tensor in factors())
    assert torch.autograd.gradcheck(lambda a, b: pair_products(a, b, torch.float64), (rows, columns))
    torch.library.opcheck(pair_products.op, (rows, columns, torch.float64))


def test_the_slopes_times_a_factor() -> None:
    rows, _ = factors()
    slopes = torch.randn(R, C, dtype=torch.float64)
    torch.testing.assert_close(slopes_times(slopes, rows), slopes.T @ rows)
