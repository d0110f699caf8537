"""Numerical helpers: checks that numbers are finite, sums in log space, and the log-mass of one-of-K vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def seen_finite(values: Tensor) -> bool:
    """Whether one look at their sum shows that all ``values`` are finite.

    False says nothing: where the look would break a compiled graph or make a GPU wait, none is taken.

    >>> seen_finite(torch.tensor([1.0, 2.0])), seen_finite(torch.tensor([1.0, -math.inf]))
    (True, False)
    """
    if torch.compiler.is_compiling() or values.device.type != "cpu":
        return False
    return math.isfinite(values.detach().sum().item())


def all_finite(tensors: Sequence[Tensor]) -> bool:
    """Whether all numbers of all ``tensors`` are finite, with one look at their sum (on a GPU, one wait).

    A sum of finite numbers may overflow, so False calls for a closer look.

    >>> all_finite([torch.zeros(3), torch.tensor([[1.0, math.nan]])])
    False
    """
    if not tensors:
        return True
    parts = [tensor.detach() for tensor in tensors]
    if len(parts) == 1:
        whole = parts[0]
    elif all(part.shape == parts[0].shape for part in parts):
        whole = torch.stack(parts)
    else:
        whole = torch.cat([part.flatten() for part in parts])
    return math.isfinite(whole.sum().item())


def log_mean_exp(log_values: Tensor, dim: int) -> Tensor:
    """``log (1/S) Σ_s exp(a_s)`` along ``dim``, without overflow.

    >>> log_mean_exp(torch.tensor([1000.0, 1000.0]), 0)
    tensor(1000.)
    """
    return torch.logsumexp(log_values, dim) - math.log(log_values.shape[dim])


def where_known(known: Tensor | bool, values: Tensor) -> Tensor:
    """``values`` at the known items and exactly zero, without gradient, at the others."""
    if known is True:
        return values
    if known is False:
        return torch.zeros_like(values)
    return torch.where(known, values, 0.0)


def where_unknown(known: Tensor | bool, values: Tensor) -> Tensor:
    """``values`` at the unknown items and exactly zero, without gradient, at the known ones."""
    return where_known(~known if isinstance(known, Tensor) else not known, values)


def class_mass(value: Tensor, logits: Tensor) -> Tensor:
    """``Σ_k y_k log softmax_k(logits)``, for ``value`` y and ``logits`` of shapes (..., K).

    At a vertex of the simplex it is the log-probability of a class, with a gradient for y; between the vertices the
    mass goes on linearly, so that for y = π the difference of two of them is the KL divergence itself. Masked classes
    have logits of -inf: they count nothing where y has nothing of them, and make a value impossible where it has.

    >>> class_mass(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.0, -torch.inf]))
    tensor(-0.6931)
    """
    log_probs = logits.log_softmax(-1)
    mass = (value * log_probs).sum(-1)
    if seen_finite(mass):
        return mass
    masked = log_probs.isneginf()
    rest = (value * torch.where(masked, 0.0, log_probs)).sum(-1)
    return rest.masked_fill((masked & (value != 0)).any(-1), -torch.inf)
