"""All pairs of Concrete draws, or labels, and items: two matrix products and a logarithm.

For a draw u_r = log y_r and an item's logits a_c, with s = -τ u (Maddison et al. 2017, App. C.3), and for a label y_r,

    log q(u_r | x_c) = log Γ(K) + (K-1) log τ + Σ_k s_rk + Σ_k a_ck - K log Σ_k exp(s_rk + a_ck)
    log q(y_r | x_c) = Σ_k y_rk a_ck - log Σ_k exp(a_ck)

Both are the same sum,

    L_rc = o_r + Σ_k m_rk a_ck - n_r log S_rc        n_r = Σ_k m_rk        S_rc = Σ_k exp(s_rk) exp(a_ck)

with m = 1 for a draw, and for a label m = y, s = 0 and no offset o. So it takes K exponentials per row and per column,
not per pair; all that S adds is positive, so nothing cancels. The backward is derived by hand. With slopes G_rc and
H_rc = -n_r G_rc / S_rc,

    ∂s = e^s ∘ (H e^a) + G 1      ∂u = -τ ∂s      ∂τ = -Σ u ∂s + (K-1)/τ Σ G      of draws
    ∂a = e^a ∘ (Hᵀ e^s) + Gᵀ m

One operator, since writing R x C matrices and steps of autograd are what costs time.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from unknot.objectives.marginal.hand_derived import HandDerived
from unknot.objectives.marginal.pair_products import slopes_times

Five = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def _forward(
    u: Tensor,
    logits: Tensor,
    temperature: Tensor,
    parent: Tensor | None,
    labels: Tensor | None,
    labeled: Tensor | None,
) -> Five:
    """L (R, C) of draws ``u`` (R, K) under ``logits`` (C, K), or (T, C, K) of which row r uses the table ``parent[r]``.

    Rows where ``labeled`` (R,) is True are scored at ``labels`` (R, K). All have one type, which must hold the sums S.
    These come second, for the backward, and then exp(s), exp(a) and m.
    """
    classes, heat = u.shape[-1], temperature.item()
    s, count = u * -heat, _count(u, labels, labeled)
    offset = s.sum(-1, keepdim=True).add_(math.lgamma(classes) + (classes - 1) * math.log(heat))
    if labeled is not None:
        s.masked_fill_(labeled[:, None], 0.0)
        offset.masked_fill_(labeled[:, None], 0.0)
    e, f = s.exp_(), logits.exp()
    sums = _wide(e, logits, parent) @ _columns_first(f).mT
    pairs = torch.addmm(offset, _wide(count, logits, parent), _columns_first(logits).mT)
    return pairs.addcmul_(sums.log(), count.sum(-1, keepdim=True), value=-1.0), sums, e, f, count


def _fake(
    u: Tensor,
    logits: Tensor,
    temperature: Tensor,
    parent: Tensor | None,
    labels: Tensor | None,
    labeled: Tensor | None,
) -> Five:
    pairs = u.new_empty(u.shape[0], logits.shape[-2])
    e, f, count = (tensor.new_empty(tensor.shape) for tensor in (u, logits, u))
    return pairs, torch.empty_like(pairs), e, f, count


def _save(ctx: Any, inputs: tuple[Any, ...], output: Five) -> None:
    u, logits, temperature, parent, _, labeled = inputs
    ctx.save_for_backward(u, logits, temperature, parent, labeled, *output[1:])
    ctx.set_materialize_grads(False)  # L alone is used outside


def _backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,) * 6
    u, logits, temperature, parent, labeled, sums, e, f, count = ctx.saved_tensors
    slopes = (grad * count.sum(-1, keepdim=True).neg_()).div_(sums)  # H
    of_u = of_logits = of_temperature = None
    if ctx.needs_input_grad[0] or ctx.needs_input_grad[2]:
        total = grad.sum(-1, keepdim=True)
        of_s = torch.addcmul(total, _own_table(slopes_times(slopes.mT, _columns_first(f)), logits, parent), e)
        if labeled is not None:
            of_s.masked_fill_(labeled[:, None], 0.0)
            total.masked_fill_(labeled[:, None], 0.0)
        of_u = of_s * -temperature
        if ctx.needs_input_grad[2]:
            of_temperature = (u.shape[-1] - 1) / temperature * total.sum() - (u * of_s).sum()
    if ctx.needs_input_grad[1]:
        of_count = _tables_first(slopes_times(grad, _wide(count, logits, parent)), logits)
        of_sums = _tables_first(slopes_times(slopes, _wide(e, logits, parent)), logits)
        of_logits = torch.addcmul(of_count, of_sums, f)
    return of_u, of_logits, of_temperature, None, None, None


def _count(u: Tensor, labels: Tensor | None, labeled: Tensor | None) -> Tensor:
    """m, (R, K): how often a row counts every class."""
    if labels is None or labeled is None:
        return torch.ones_like(u)
    return torch.where(labeled[:, None], labels, 1.0)


def _wide(rows: Tensor, logits: Tensor, parent: Tensor | None) -> Tensor:
    """(R, K), or with tables (R, T K): rows ⊗ one-hot(parent), zero wherever the table is another parent's."""
    if parent is None:
        return rows
    where = one_hot(parent, logits.shape[0]).to(rows.dtype)  # (R, T)
    return (where[:, :, None] * rows[:, None, :]).flatten(1)


def _own_table(wide: Tensor, logits: Tensor, parent: Tensor | None) -> Tensor:
    """(R, K) of (R, T K): the entries of each row's own table."""
    if parent is None:
        return wide
    tables = wide.reshape(len(wide), logits.shape[0], -1)
    return tables[torch.arange(len(wide), device=wide.device), parent]


def _columns_first(table: Tensor) -> Tensor:
    """(C, K) as it is, (T, C, K) -> (C, T K)."""
    return table if table.ndim == 2 else table.movedim(1, 0).flatten(1)


def _tables_first(flat: Tensor, logits: Tensor) -> Tensor:
    """Back again: (C, K) as it is, (C, T K) -> (T, C, K)."""
    return flat if logits.ndim == 2 else flat.reshape(len(flat), logits.shape[0], -1).movedim(1, 0)


concrete_pairs = HandDerived("concrete_pairs", _forward, _fake, _save, _backward)
