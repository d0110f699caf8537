"""Independence: a price on what the style and a named factor have to do with each other, whatever it is.

For n items with means r of the nodes that take no labels and values v of a node that takes labels, and kernels
K_ij = k(r_i, r_j), L_ij = k(v_i, v_j) with zeros in the diagonal, the Hilbert-Schmidt independence criterion is

    HSIC = [ Σ_ij K_ij L_ij + ΣK ΣL / ((n-1)(n-2)) - 2 / (n-2) Σ_i K_i· L_i· ] / (n (n-3)),

an estimate without bias from any batch (Song et al. 2012, Eq. 5) of a number that is zero if and only if r and v are
independent. The generative program gets the log-term -λ · HSIC (Lopez et al. 2018). The kernel is a mean of three
rational ones,

    k(a, b) = 1/3 Σ_c 1 / (1 + |a - b|² / (c D))        c = 0.1, 0.3, 1        D numbers in a and in b,

in the units of the prior. v is the label where it is known and the encoder's reading elsewhere.

Beside the price ``between`` (:mod:`unknot.objectives.parts.prices`) it needs no density, whose estimate from few items
of a class is poor; beside a critic (:mod:`unknot.models.critic`) it has nobody to train.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unknot.core.axes import cat
from unknot.core.distributions import without_autocast
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.agreement import first_draw, target
from unknot.models.families import Family
from unknot.models.spec import ModelSpec

_WIDTHS = (0.1, 0.3, 1.0)


def nodes_at_rest(spec: ModelSpec, what: str) -> list[str]:
    """The nodes without labels that are recognized from the data: the style."""
    found = [n.name for n in spec.latents if not n.labels and spec.data.name in n.inferred_from]
    if not found or not spec.labeled:
        raise SpecError(
            f"model: {what} is about nodes with labels and nodes without that are recognized from the data; this "
            f"model has not both. Leave {what} out."
        )
    return found


def dependence(
    q: Trace, style: list[str], factors: list[str], families: Mapping[str, Family]
) -> dict[str, Tensor]:
    """HSIC of the style and each of the factors, ``()``."""
    means = cat([_mean(q, name, families[name]) for name in style])  # (B, D)
    of_style, found = kernel(means), {}
    for name in factors:
        value, _ = target(q[name], families[name].reading(q[name].dist), 0.0)
        found[name] = hsic(of_style, kernel(families[name].features(value)))
    return found


def kernel(values: Tensor) -> Tensor:
    """k of all pairs of rows ``(n, D)``, ``(n, n)``, with zeros in the diagonal."""
    squares = values.square().sum(-1)
    with without_autocast(values):
        distance = (squares[:, None] + squares - 2 * values @ values.T).clamp_min(0)
    mean = sum(1 / (1 + distance / (c * values.shape[-1])) for c in _WIDTHS) / len(_WIDTHS)
    return torch.as_tensor(mean) * (1 - torch.eye(len(values), dtype=values.dtype, device=values.device))


def hsic(first: Tensor, second: Tensor) -> Tensor:
    """The criterion of two kernels ``(n, n)`` with zeros in the diagonal; zero for fewer than four items.

    >>> torch.manual_seed(0)
    <...>
    >>> a, b = torch.randn(500, 2), torch.randn(500, 2)
    >>> hsic(kernel(a), kernel(a * a)).item() > 10 * abs(hsic(kernel(a), kernel(b)).item())
    True
    """
    n = len(first)
    if n < 4:
        return first.sum() * 0
    means = first.sum() * second.sum() / ((n - 1) * (n - 2))
    rows = 2 / (n - 2) * (first.sum(0) * second.sum(0)).sum()
    return ((first * second).sum() + means - rows) / (n * (n - 3))


def _mean(q: Trace, name: str, family: Family) -> Tensor:
    node = q[name]
    return first_draw(family.features(node.dist.mean if family.gaussian else node.value), 1)
