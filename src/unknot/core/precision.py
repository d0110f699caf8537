"""Densities in full precision: networks may run in half precision, sums of log-probabilities may not.

Under ``bf16-mixed`` a network's outputs come as bfloat16, with eight bits of mantissa: a log-likelihood of -100 would
be known to half a nat. Sites therefore raise such parameters to float32 before anything is drawn or scored.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.distribution_parameters import map_parameters

_HALF = (torch.bfloat16, torch.float16)


def in_full_precision(dist: Distribution) -> Distribution:
    """The distribution itself, or a copy with float32 parameters if any of them is in half precision.

    >>> low = torch.distributions.Normal(torch.zeros(3, dtype=torch.bfloat16), 1.0)
    >>> in_full_precision(low).loc.dtype
    torch.float32
    """
    return map_parameters(dist, Tensor.float) if _has_half(dist) else dist


def without_autocast(values: Tensor) -> AbstractContextManager[None]:
    """Inside, matrix products of tensors like these are taken in their own precision.

    >>> with torch.autocast("cpu", torch.bfloat16), without_autocast(torch.ones(2, 2)):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.float32
    """
    found: AbstractContextManager[None] = torch.autocast(values.device.type, enabled=False)
    return found


def _has_half(dist: Distribution) -> bool:
    for held in dist.__dict__.values():
        if isinstance(held, Tensor):
            if held.dtype in _HALF:
                return True
        elif isinstance(held, Distribution) and _has_half(held):  # OneHotCategorical keeps a Categorical
            return True
    return False
