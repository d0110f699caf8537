"""Weighted log-sum-exp over the columns of a pairwise matrix, with a backward that stores nothing new.

A custom operator rather than composed tensor operations: the weights are two numbers, applied without a
weight matrix, and the backward needs only the matrix itself, so a B x C problem costs one B x C tensor.
``torch.compile`` sees one opaque node.
"""

import math
from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.hand_derived import HandDerived
from unknot.objectives.marginal.weights import Mixture


def log_mixture(joint: Tensor, mixture: Mixture) -> Tensor:
    """log Σ_c w_bc q(z_b | x_c), from log-densities ``joint`` (..., B, C): shape (..., B)."""
    rows = joint.shape[:-1]
    own = flat_rows(mixture.own, rows)
    flat = joint.reshape(-1, joint.shape[-1])
    return weighted_logsumexp(flat, own, mixture.log_own, mixture.log_other).reshape(rows)


def flat_rows(per_item: Tensor | None, rows: torch.Size) -> Tensor | None:
    """Repeat a per-item tensor (B,) along the sample axis and flatten it: one entry per draw."""
    return None if per_item is None else per_item.expand(rows).reshape(-1)


def tilt_own_(logs: Tensor, own: Tensor | None, tilt: float) -> Tensor:
    """Add ``tilt`` at each row's own column, in place: the own weight relative to the others'.

    ``logs`` is (R, C) or (R, D, C). Scaling one entry, rather than correcting the finished sum, keeps all
    terms positive: the sum would cancel where the own item holds nearly all of it.
    """
    if own is None or tilt == 0.0:
        return logs
    shape = (-1,) + (1,) * (logs.dim() - 1)
    column = own.view(shape).expand(*logs.shape[:-1], 1)
    return logs.scatter_add_(-1, column, logs.new_full((), tilt).expand(column.shape))


def exp_(logs: Tensor) -> Tensor:
    """exp in place, for logs relative to a row's largest: what is far below it becomes tiny instead of zero.

    Results that underflow cost a CPU several times a normal exponential, here and in each later product. The
    floor is e^-61 in float32, 1e19 times below what can be seen in a sum of such terms. As a power of two it takes half
    of the time of exp on some CPUs; what its argument loses by rounding grows as the term becomes too small to matter.
    """
    return logs.clamp_(min=0.7 * math.log(torch.finfo(logs.dtype).tiny)).mul_(1 / math.log(2)).exp2_()


def logsumexp_(logs: Tensor) -> Tensor:
    """Log-sum-exp over the last axis, overwriting ``logs``; rows that are all -inf give a finite minimum."""
    top = logs.amax(-1, keepdim=True).clamp_(min=torch.finfo(logs.dtype).min)
    return exp_(logs.sub_(top)).sum(-1).log_().add_(top.squeeze(-1))


def _forward(joint: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Tensor:
    """log Σ_c exp(joint[b, c] + log w_bc), joint (R, C): shape (R,)."""
    return logsumexp_(tilt_own_(joint.clone(), own, log_own - log_other)).add_(log_other)


def _fake(joint: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Tensor:
    return joint.new_empty(joint.shape[:1])


@torch.library.custom_op("unknot::weighted_logsumexp_backward", mutates_args=())
def weighted_logsumexp_backward(
    grad: Tensor, joint: Tensor, total: Tensor, own: Tensor | None, log_own: float, log_other: float
) -> Tensor:
    """grad_b r_bc, with responsibilities r_bc = w_bc q(z_b | x_c) / q^(z_b) that add up to one."""
    share = joint - (total - log_other)[:, None]
    return exp_(tilt_own_(share, own, log_own - log_other)).mul_(grad[:, None])


@weighted_logsumexp_backward.register_fake
def _(
    grad: Tensor, joint: Tensor, total: Tensor, own: Tensor | None, log_own: float, log_other: float
) -> Tensor:
    return torch.empty_like(joint, memory_format=torch.contiguous_format)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    joint, own, ctx.log_own, ctx.log_other = inputs
    ctx.save_for_backward(joint, output, own)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    joint, total, own = ctx.saved_tensors
    return weighted_logsumexp_backward(grad, joint, total, own, ctx.log_own, ctx.log_other), None, None, None


weighted_logsumexp = HandDerived("weighted_logsumexp", _forward, _fake, _save, _backward)
