"""Parameters given as plain numbers, in the precision of what they score.

``p.gamma(2.1, 0.3, value=x)`` with x in float64 is a float64 question. torch would make the numbers float32, and with
them the observation and the normalising constant: seven digits instead of sixteen.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.core.partial import Partial

Number = Tensor | float


def in_precision_of(value: Any, *parameters: Number) -> list[Number]:
    """The parameters; if none is a tensor, as tensors of the floating type of a site's ``value``.

    >>> in_precision_of(torch.zeros(3, dtype=torch.float64), 0.1)
    [tensor(0.1000, dtype=torch.float64)]
    >>> in_precision_of(None, 0.1)
    [tensor(0.1000)]
    """
    if any(isinstance(parameter, Tensor) for parameter in parameters):
        return list(parameters)
    dtype = _floating_type(value)
    return [torch.tensor(parameter, dtype=dtype) for parameter in parameters]


def _floating_type(value: Any) -> torch.dtype:
    given = (
        value.values if isinstance(value, Partial) else getattr(value, "value", value)
    )  # of a node its value
    if isinstance(given, Tensor) and given.dtype in (torch.float32, torch.float64):
        return given.dtype
    return torch.get_default_dtype()
