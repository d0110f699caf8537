"""The mixtures of several groups and of all of them together, from one exponential for each group.

For groups g with log-densities j_g(b, c), rows b and columns c, the mixtures are

    log Σ_c w_bc exp j_g(b, c)  of every group, and  log Σ_c w_bc exp Σ_g j_g(b, c)  of all together.

With e_g = exp(j_g - max_c j_g), the last sum is that of the products Π_g e_g: no further exponentials. Where hardly
anything of it is left, since no item explains all groups of a draw at once, it is worked out from the sums of the j_g.
The backward takes the terms w exp j and their sums from the forward.
"""

import math
from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.log_mixture import exp_, flat_rows
from unknot.objectives.marginal.weights import Mixture

# Of a sum of products: what :func:`exp_` lifts to its floor is 1e-12 of that at most, for thousands of columns.
_LEAST = 1e-12


def group_mixtures(joints: list[Tensor], mixture: Mixture) -> list[Tensor]:
    """log q^ of every group, then of all together, from matrices (*rows, C): G + 1 times (*rows)."""
    rows = joints[0].shape[:-1]
    own = flat_rows(mixture.own, rows)
    flat = [joint.reshape(-1, joint.shape[-1]) for joint in joints]
    logs, _, _ = group_logsumexp(flat, own, mixture.log_own, mixture.log_other)
    return [log.reshape(rows) for log in logs.unbind()]


@torch.library.custom_op("unknot::group_logsumexp", mutates_args=())
def group_logsumexp(
    joints: list[Tensor], own: Tensor | None, log_own: float, log_other: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The mixtures (G + 1, R) of G matrices (R, C); for the backward, their terms (G + 1, R, C) and sums (G + 1, R)."""
    tilt = math.exp(log_own - log_other)
    first = joints[0]
    terms = first.new_empty(len(joints) + 1, *first.shape)
    tops = first.new_zeros(len(joints) + 1, len(first))
    for joint, top, part in zip(joints, tops, terms, strict=False):
        _relative_exp(joint, top, part)
        tops[-1].add_(top)
    torch.mul(terms[0], terms[1], out=terms[-1]) if len(joints) > 1 else terms[-1].copy_(terms[0])
    for part in terms[2:-1]:
        terms[-1].mul_(part)
    sums = _scale_own_(terms, own, tilt).sum(-1)
    if sums[-1].amin().item() < _LEAST:
        _relative_exp(torch.stack(joints).sum(0), tops[-1], terms[-1])
        sums[-1] = _scale_own_(terms[-1:], own, tilt).sum(-1)
    return sums.log().add_(tops).add_(log_other), terms, sums


@group_logsumexp.register_fake
def _(
    joints: list[Tensor], own: Tensor | None, log_own: float, log_other: float
) -> tuple[Tensor, Tensor, Tensor]:
    terms = joints[0].new_empty(len(joints) + 1, *joints[0].shape)
    return terms.new_empty(terms.shape[:-1]), terms, terms.new_empty(terms.shape[:-1])


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


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.save_for_backward(*output[1:])
    ctx.set_materialize_grads(False)  # the mixtures alone are used outside


def _differentiate(
    ctx: Any, grad: Tensor | None, *_: Tensor | None
) -> tuple[list[Tensor | None], None, None, None]:
    terms, sums = ctx.saved_tensors
    if grad is None:
        return [None] * (len(terms) - 1), None, None, None
    *slopes, of_all = ((grad / sums).unsqueeze(-1) * terms).unbind()  # (R, C) each
    return [slope.add_(of_all) for slope in slopes], None, None, None


group_logsumexp.register_autograd(_differentiate, setup_context=_save)
