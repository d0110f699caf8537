"""The cheapest looks at whether numbers are finite: at their sum."""

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
