"""Sums and means of things kept as logarithms."""

from __future__ import annotations

import math

import torch
from torch import Tensor


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
