"""A price on correlation that cannot reward the estimate's error.

The estimate of q(z) is unbiased, so that of log q(z) is too small (Jensen), and by more in many dimensions than in one:
the total correlation E[log q(z) - Σ_d log q(z_d)] is estimated too small, below zero where there is hardly any. No
correlation is below zero, and a price on such a number pays for codes that the batch covers badly. With a floor the
price holds only while the estimate, a mean over the global batch, is above zero; below, the term counts as the bound
counts it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unknot.objectives.marginal.gather import gather_items
from unknot.objectives.parts.groups import ROOT, WITHIN


def floored(values: Mapping[str, Tensor], weights: Mapping[str, float]) -> dict[str, float | Tensor]:
    """The weights, but one where a correlation is estimated below zero; other terms keep theirs.

    ``values`` are as they enter the objective: minus the correlation, ``(..., B)``.

    >>> values = {"between": torch.tensor([-1.0, 3.0]), "within": torch.tensor([-1.0, 0.5])}
    >>> {name: float(weight) for name, weight in floored(values, {"between": 4.0, "within": 3.0}).items()}
    {'between': 1.0, 'within': 3.0}
    """
    return {
        name: _held(values[name], weight) if _is_correlation(name) else weight
        for name, weight in weights.items()
    }


def _held(value: Tensor, weight: float) -> Tensor:
    mean = gather_items(value.detach().reshape(-1, value.shape[-1]).mean(0)).mean()
    return torch.where(mean < 0, weight, 1.0)


def _is_correlation(name: str) -> bool:
    return name.partition("[")[0] in (ROOT, WITHIN)
