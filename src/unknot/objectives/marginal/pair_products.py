"""Rows against columns by one matrix product, in float64, with a backward that a processor likes.

Both gradients of P = A Bᵀ, with A (R, K), B (C, K) and K much smaller than R and C, are products with the R x C matrix
G of slopes, G B and Gᵀ A. Written as (Bᵀ Gᵀ)ᵀ and (Aᵀ G)ᵀ, results with few rows and long ones, they take half of the
time on a CPU (K = 10, R = C = 256). They are summed in float64 as well: where squares cancel in P, so do they there.
"""

from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.hand_derived import HandDerived


def _forward(rows: Tensor, columns: Tensor, dtype: torch.dtype) -> Tensor:
    """Σ_k rows[r, k] columns[c, k], from (R, K) and (C, K): (R, C) in ``dtype``."""
    return (rows.double() @ columns.double().mT).to(dtype)


def _fake(rows: Tensor, columns: Tensor, dtype: torch.dtype) -> Tensor:
    return rows.new_empty(rows.shape[0], columns.shape[0], dtype=dtype)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    rows, columns = ctx.saved_tensors
    slopes = grad.double()
    return (
        slopes_times(slopes.mT, columns).to(rows.dtype) if ctx.needs_input_grad[0] else None,
        slopes_times(slopes, rows).to(columns.dtype) if ctx.needs_input_grad[1] else None,
        None,
    )


def slopes_times(slopes: Tensor, factor: Tensor) -> Tensor:
    """Gᵀ F for slopes (R, C) and a factor (R, K): (C, K), in the type of the slopes."""
    return (factor.to(slopes.dtype).mT @ slopes).mT


pair_products = HandDerived("pair_products", _forward, _fake, _save, _backward)
