"""The mixtures of several groups and of all of them together.

For groups g with log-densities j_g(b, c), rows b and columns c, the mixtures are

    log Σ_c w_bc exp j_g(b, c)  of every group, and  log Σ_c w_bc exp Σ_g j_g(b, c)  of all together.

The matrices of different groups may have different leading axes: an enumerated class (K, 1, B, C), a style that does
not depend on it (S, B, C), an observed class (B, C). Each mixture has the rows of its own matrix, and that of all
together has the rows to which they broadcast.

Two groups with the same rows, a class and a style in most models, have an operator of their own. With
e_g = exp(j_g - max_c j_g), the last sum is that of the products e_1 e_2 and needs no further exponentials. Where the
products underflow, because no item explains both groups of a draw, the sum is computed from j_1 + j_2. The backward
reuses the terms w exp j and their sums from the forward. Forward and backward take half the time of plain autograd for
512 rows and columns, and as long for 256.
"""

import math
from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.hand_derived import HandDerived
from unknot.objectives.marginal.log_mixture import exp_, flat_rows, log_mixture
from unknot.objectives.marginal.weights import Mixture

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


def _forward(first: Tensor, second: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Triple:
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


def _fake(first: Tensor, second: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Triple:
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


def _save(ctx: Any, inputs: tuple[Any, ...], output: Triple) -> None:
    ctx.save_for_backward(*output[1:])
    ctx.set_materialize_grads(False)  # the mixtures alone are used outside


def _backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,) * 5
    terms, sums = ctx.saved_tensors
    first, second, both = terms.unbind()
    one, two, of_both = (grad / sums).unsqueeze(-1).unbind()  # (R, 1) each
    of_first = (one * first).addcmul_(of_both, both)
    return of_first, (two * second).addcmul_(of_both, both), None, None, None


two_mixtures = HandDerived("two_mixtures", _forward, _fake, _save, _backward)
