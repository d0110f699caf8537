"""Two matrix products and a logarithm: what all pairs of Concrete draws and classes come down to.

    L_rc = Σ_j a_rj b_cj + w_r log Σ_k e_rk f_ck

One operator, since writing R x C matrices is what costs time. Products are summed in float64, and what is finished is
kept as the result's type. The backward, with the slopes G,

    ∂a = G b        ∂b = Gᵀ a        ∂e = H f        ∂f = Hᵀ e        H_rc = w_r G_rc / Σ_k e_rk f_ck

has sums of products without cancellation beyond that of G itself, so it runs in the result's type.
"""

from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.pair_products import slopes_times


@torch.library.custom_op("unknot::log_products", mutates_args=())
def log_products(
    a: Tensor, b: Tensor, weight: Tensor, e: Tensor, f: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """L (R, C) from a (R, J), b (C, J), weight (R), e (R, K), f (C, K); and the sums in the logarithm.

    ``dtype`` must hold these sums; there is no gradient for ``weight``.
    """
    sums = (e.double() @ f.double().mT).to(dtype)
    plain = (a.double() @ b.double().mT).to(dtype)
    return plain.addcmul_(sums.log(), weight.to(dtype)[:, None]), sums


@log_products.register_fake
def _(
    a: Tensor, b: Tensor, weight: Tensor, e: Tensor, f: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    found = a.new_empty(a.shape[0], b.shape[0], dtype=dtype)
    return found, torch.empty_like(found)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, _ = inputs
    ctx.save_for_backward(*tensors, output[1])
    ctx.set_materialize_grads(False)


def _differentiate(ctx: Any, grad: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, ...]:
    a, b, weight, e, f, sums = ctx.saved_tensors
    if grad is None:
        return (None,) * 6
    slopes = (grad * weight.to(grad.dtype)[:, None]).div_(sums)  # H
    return (
        slopes_times(grad.mT, b, a.dtype) if ctx.needs_input_grad[0] else None,
        slopes_times(grad, a, b.dtype) if ctx.needs_input_grad[1] else None,
        None,
        slopes_times(slopes.mT, f, e.dtype) if ctx.needs_input_grad[3] else None,
        slopes_times(slopes, e, f.dtype) if ctx.needs_input_grad[4] else None,
        None,
    )


log_products.register_autograd(_differentiate, setup_context=_save)
