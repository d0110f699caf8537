"""Independence: a penalty on any dependence between the style and a factor, by a kernel (HSIC)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal

from unknot.core.axes import cat
from unknot.core.distributions import without_autocast
from unknot.core.program import Program
from unknot.core.site_prediction import first_draw, label_or_prediction
from unknot.core.trace import Trace
from unknot.errors import SpecError

_WIDTHS = (0.1, 0.3, 1.0)


def independence(program: Program, batch: Any, q: Trace, p: Trace) -> dict[str, Tensor]:
    """Hilbert-Schmidt independence criterion of the style and each factor.

    For n items with means r of the sites that take no labels and values v of a site that takes labels, and kernels
    K_ij = k(r_i, r_j), L_ij = k(v_i, v_j) with zeros in the diagonal, the penalty is (Lopez et al. 2018)

        HSIC = [ Σ_ij K_ij L_ij + ΣK ΣL / ((n-1)(n-2)) - 2 / (n-2) Σ_i K_i· L_i· ] / (n (n-3)),

    an unbiased estimate from any batch (Song et al. 2012, Eq. 5) of a number that is zero if and only if r and v are
    independent. The kernel is a mean of three rational ones, in the units of the prior,

        k(a, b) = 1/3 Σ_c 1 / (1 + |a - b|² / (c D))        c = 0.1, 0.3, 1        D numbers in a and in b.

    v is the label where it is known and the encoder's prediction elsewhere. Unlike the weight ``between``
    (:mod:`unknot.objectives.parts.weights`) it needs no density, which is hard to estimate from few items of a class.

    Parameters
    ----------
    program : Program
        Says which sites take labels.
    batch : Batch
        The items.
    q, p : Trace
        Their traces.

    Returns
    -------
    dict from str to Tensor
        ``independence_FACTOR``, the same number for each item.
    """
    factors, style = factors_and_style(program, batch, q, "independence")
    kernel_of_style = kernel(cat([_mean(program, q, name) for name in style]))  # from means (B, D)
    penalties = {}
    for name in factors:
        value, _ = label_or_prediction(q[name], program.site_prediction(q[name]))
        criterion = hsic(kernel_of_style, kernel(program.site_features(name, value)))
        penalties[f"independence_{name}"] = criterion.expand(q.leading_shape[-1:])
    return penalties


def factors_and_style(
    program: Program, batch: Any, q: Trace, regularizer: str
) -> tuple[list[str], list[str]]:
    """Return the sites that take labels and those that do not; a program that lacks either is refused."""
    factors, style = program.factors_and_style(q, batch)
    if not factors or not style:
        raise SpecError(
            f"{regularizer} needs sites with labels and sites without labels that are inferred from the data, but "
            f"the model has {', '.join(factors) or 'none'} and {', '.join(style) or 'none'}; leave it out."
        )
    return factors, style


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


def _mean(program: Program, q: Trace, name: str) -> Tensor:
    node = q[name]
    value = node.dist.mean if isinstance(node.dist, Normal) else node.value
    return first_draw(program.site_features(name, value), 1)
