"""Weighted log-sum-exp over the columns of a pairwise matrix, with a backward that stores nothing new.

A custom operator rather than composed tensor operations: the weights are two numbers, applied without a
weight matrix, and the backward needs only the matrix itself, so a B x C problem costs one B x C tensor.
``torch.compile`` sees one opaque node.
"""

import math
from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.custom_op import HandDerived
from unknot.objectives.marginal.weights import Mixture

# ---- The mixtures of several groups and of all of them together ------------------------------------------
# For groups g with log-densities j_g(b, c), rows b and columns c, the mixtures are
#
#     log Σ_c w_bc exp j_g(b, c)  of every group, and  log Σ_c w_bc exp Σ_g j_g(b, c)  of all together.
#
# The matrices of different groups may have different leading axes: an enumerated class (K, 1, B, C), a style that does
# not depend on it (S, B, C), an observed class (B, C). Each mixture has the rows of its own matrix, and that of all
# together has the rows to which they broadcast.
#
# Two groups with the same rows, a class and a style in most models, have an operator of their own. With
# e_g = exp(j_g - max_c j_g), the last sum is that of the products e_1 e_2 and needs no further exponentials. Where the
# products underflow, because no item explains both groups of a draw, the sum is computed from j_1 + j_2. The backward
# reuses the terms w exp j and their sums from the forward. Forward and backward take 0.6 of the time of plain autograd
# for 512 rows and columns.

Triple = tuple[Tensor, Tensor, Tensor]

# Of a sum of products: what :func:`exp_` lifts to its floor is 1e-12 of that at most, for thousands of columns.
_LEAST = 1e-12


def group_mixtures(joints: list[Tensor], mixture: Mixture) -> list[Tensor]:
    """log q^ of every group, then of all together, from matrices (*rows, C) with rows that broadcast."""
    if len(joints) != 2 or joints[0].shape != joints[1].shape:
        first, *others = joints
        return [log_mixture(joint, mixture) for joint in (*joints, sum(others, start=first))]
    rows, columns = joints[0].shape[:-1], joints[0].shape[-1]
    one, two = (joint.reshape(-1, columns) for joint in joints)
    logs, *_ = two_mixtures(one, two, flat_rows(mixture.own, rows), mixture.log_own, mixture.log_other)
    return [log.reshape(rows) for log in logs.unbind()]


def _two_forward(
    first: Tensor, second: Tensor, own: Tensor | None, log_own: float, log_other: float
) -> Triple:
    """The mixtures (3, R) of two matrices (R, C) and of both; for the backward, terms (3, R, C) and sums (3, R)."""
    if first.shape != second.shape:
        raise ValueError(f"expected two matrices of the same shape, got {first.shape} and {second.shape}")
    tilt = math.exp(log_own - log_other)
    terms, tops = first.new_empty(3, *first.shape), first.new_empty(3, len(first))
    for joint, top, part in zip((first, second), tops, terms, strict=False):
        _relative_exp(joint, top, part)
    torch.add(tops[0], tops[1], out=tops[2])
    torch.mul(terms[0], terms[1], out=terms[2])
    sums = _scale_own_(terms, own, tilt).sum(-1)
    if sums[2].amin().item() < _LEAST:
        _relative_exp(first + second, tops[2], terms[2])
        sums[2] = _scale_own_(terms[2:], own, tilt).sum(-1)
    return sums.log().add_(tops).add_(log_other), terms, sums


def _two_fake(first: Tensor, second: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Triple:
    logs = first.new_empty(3, len(first))
    return logs, first.new_empty(3, *first.shape), torch.empty_like(logs)


def _relative_exp(logs: Tensor, top: Tensor, out: Tensor) -> None:
    """Write the largest of each row to ``top``, a finite minimum if all are -inf, and exp(logs - top) to ``out``."""
    torch.amax(logs, -1, out=top).clamp_(min=torch.finfo(logs.dtype).min)
    exp_(torch.sub(logs, top.unsqueeze(-1), out=out))


def _scale_own_(terms: Tensor, own: Tensor | None, tilt: float) -> Tensor:
    """Multiply the own column of every row of (..., R, C), in place: the own weight relative to the others'."""
    if own is None or tilt == 1.0:
        return terms
    column = own.view(-1, 1).expand(*terms.shape[:-1], 1)
    return terms.scatter_(-1, column, terms.gather(-1, column).mul_(tilt))


def _two_save(ctx: Any, inputs: tuple[Any, ...], output: Triple) -> None:
    ctx.save_for_backward(*output[1:])
    ctx.set_materialize_grads(False)  # the mixtures alone are used outside


def _two_backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,) * 5
    terms, sums = ctx.saved_tensors
    first, second, both = terms.unbind()
    one, two, of_both = (grad / sums).unsqueeze(-1).unbind()  # (R, 1) each
    of_first = (one * first).addcmul_(of_both, both)
    return of_first, (two * second).addcmul_(of_both, both), None, None, None


two_mixtures = HandDerived("two_mixtures", _two_forward, _two_fake, _two_save, _two_backward)


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
