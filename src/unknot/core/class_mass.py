"""The log-mass of a vector that stands for a class, and of classes that cannot occur.

A one-of-K value is a vertex of the simplex; a relaxed draw, a plug-in vector or a straight-through one lies between the
vertices or carries a gradient there. The mass goes on linearly, Σ_k y_k log π_k: for y = π the difference of two of
them is the KL divergence itself, and at a vertex it is the class's own log-probability, with a gradient for y.

**Masked classes** have logits of -inf. They count nothing where y has nothing of them (0 · -inf is 0 here), and make a
value impossible, -inf, where it has.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.finite import seen_finite


def class_mass(value: Tensor, logits: Tensor) -> Tensor:
    """``Σ_k y_k log softmax_k(logits)``, for ``value`` y and ``logits`` of shapes (..., K).

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
