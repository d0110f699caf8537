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

from unknot.objectives.marginal.hand_derived import HandDerived
from unknot.objectives.marginal.log_mixture import exp_, flat_rows
from unknot.objectives.marginal.weights import Mixture

Four = tuple[Tensor, Tensor, Tensor, Tensor]

# Of a sum of products: what :func:`exp_` lifts to its floor is 1e-12 of that at most, for thousands of columns.
_LEAST = 1e-12


def group_mixtures(joints: list[Tensor], mixture: Mixture) -> list[Tensor]:
    """log q^ of every group, then of all together, from matrices (*rows, C): G + 1 times (*rows)."""
    rows = joints[0].shape[:-1]
    own = flat_rows(mixture.own, rows)
    flat = torch.stack(joints).reshape(len(joints), -1, joints[0].shape[-1])
    logs, *_ = group_logsumexp(flat, own, mixture.log_own, mixture.log_other)
    return [log.reshape(rows) for log in logs.unbind()]


def _forward(joints: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Four:
    """The mixtures (G + 1, R) of G matrices (G, R, C).

    For the backward come the terms of every group (G, R, C), those of all together (R, C), and all sums (G + 1, R).
    """
    tilt = math.exp(log_own - log_other)
    tops, terms = _relative_exp(joints)
    whole = terms[0] * terms[1] if len(joints) > 1 else terms[0].clone()
    for part in terms[2:]:
        whole.mul_(part)
    tops = torch.cat([tops, tops.sum(0, keepdim=True)])
    sums = torch.cat([_sum(terms, own, tilt), _sum(whole[None], own, tilt)])
    if sums[-1].amin().item() < _LEAST:
        top, together = _relative_exp(joints.sum(0, keepdim=True))
        tops[-1], sums[-1], whole = top[0], _sum(together, own, tilt)[0], together[0]
    return sums.log().add_(tops).add_(log_other), terms, whole, sums


def _fake(joints: Tensor, own: Tensor | None, log_own: float, log_other: float) -> Four:
    groups, rows, _ = joints.shape
    logs = joints.new_empty(groups + 1, rows)
    return logs, torch.empty_like(joints), torch.empty_like(joints[0]), torch.empty_like(logs)


def _relative_exp(logs: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of each row (G, R), a finite minimum if all are -inf, and exp(logs - largest) (G, R, C)."""
    top = logs.amax(-1).clamp_(min=torch.finfo(logs.dtype).min)
    return top, exp_(logs - top.unsqueeze(-1))


def _sum(terms: Tensor, own: Tensor | None, tilt: float) -> Tensor:
    """Σ_c over (G, R, C), once each row's own column is multiplied, in place, by its weight relative to the others'."""
    if own is not None and tilt != 1.0:
        column = own.view(-1, 1).expand(*terms.shape[:-1], 1)
        terms.scatter_(-1, column, terms.gather(-1, column).mul_(tilt))
    return terms.sum(-1)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Four) -> None:
    ctx.save_for_backward(*output[1:])
    ctx.set_materialize_grads(False)  # the mixtures alone are used outside


def _backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> tuple[Tensor | None, None, None, None]:
    if grad is None:
        return None, None, None, None
    terms, whole, sums = ctx.saved_tensors
    scale = (grad / sums).unsqueeze(-1)  # (G + 1, R, 1)
    return (scale[:-1] * terms).addcmul_(scale[-1], whole), None, None, None


group_logsumexp = HandDerived("group_logsumexp", _forward, _fake, _save, _backward)
