"""All pairs of draws and items for a diagonal Normal where single dimensions do not matter: one matrix product.

With r = 1 / σ,

    log q(z_b | x_c) = Σ_d [-z²_bd r²_cd / 2 + z_bd μ_cd r²_cd - μ²_cd r²_cd / 2 + log r_cd - log(2π) / 2],

instead of B x C x D squares. They cancel where σ is small against z, so it is done in float64, which keeps log q to
1e-6 up to |z| / σ of 1e5 (:mod:`unknot.objectives.marginal.normal_pairs` has no such limit). The backward, by hand, is
a product for the rows and one for the columns; with slopes G_bc,

    ∂z = G (μ r²) - z ∘ (G r²)        ∂μ = r² ∘ (Gᵀ z - μ ∘ Gᵀ 1)
    ∂σ = r ∘ [r² ∘ (Gᵀ z² - 2 μ ∘ Gᵀ z + μ² ∘ Gᵀ 1) - Gᵀ 1]
"""

import math
from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.hand_derived import HandDerived
from unknot.objectives.marginal.pair_products import slopes_times


def _forward(value: Tensor, loc: Tensor, scale: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Draws (R, D) under diagonal Normals (C, D): (R, C), worked out in float64 and kept as ``dtype``.

    For the backward come the factors of the product, z² and z of the rows and -r²/2 and μ r² of the columns.
    """
    z, mean, precise = value.double(), loc.double(), scale.double().pow(-2)
    slope = mean * precise
    rows, columns = torch.cat([z * z, z], -1), torch.cat([-0.5 * precise, slope], -1)  # (R, 2 D), (C, 2 D)
    column = (
        precise.log_().addcmul_(mean, slope, value=-1.0).sum(-1).sub_(loc.shape[-1] * math.log(2 * math.pi))
    )
    return torch.addmm(column, rows, columns.mT, beta=0.5).to(dtype), rows, columns


def _fake(value: Tensor, loc: Tensor, scale: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = (torch.cat([tensor, tensor], -1).double() for tensor in (value, loc))
    return value.new_empty(value.shape[0], loc.shape[0], dtype=dtype), rows, columns


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:3], *output[1:])
    ctx.set_materialize_grads(False)  # the matrix alone is used outside


def _backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,) * 4
    value, loc, scale, rows, columns = ctx.saved_tensors
    slopes = grad.double()
    of_value = of_loc = of_scale = None
    if ctx.needs_input_grad[0]:
        of_square, of_z = slopes_times(slopes.mT, columns).chunk(2, -1)
        of_value = torch.addcmul(of_z, of_square, value, value=2.0).to(value.dtype)
    if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
        by_square, by_z = slopes_times(slopes, rows).chunk(2, -1)
        by_one = slopes.sum(0)[:, None]
        precise = scale.double().pow(-2)
        pull = torch.addcmul(by_z, loc, by_one, value=-1.0)
        of_loc = (precise * pull).to(loc.dtype)
        spread = by_square.addcmul_(loc, pull.add_(by_z), value=-1.0).mul_(precise)
        of_scale = spread.sub_(by_one).div_(scale).to(scale.dtype)
    return of_value, of_loc, of_scale, None


normal_joint = HandDerived("normal_joint", _forward, _fake, _save, _backward)
