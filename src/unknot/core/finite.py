"""The cheapest look at whether numbers are finite."""

from __future__ import annotations

import math

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
