"""Exact enumeration: a discrete site's whole support becomes an axis that objectives sum over.

A site with K values shows the program a value with a new leading axis of size K. Several enumerated sites
have an axis each, and networks run on their product. An item whose label is known puts all its weight on
that label, so one enumerated program serves labelled and unlabelled items alike (M2's objective).
"""

from __future__ import annotations

import torch
from torch import Size, Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, OneHotCategorical

from unknot.core.relaxed import BinaryConcrete, Concrete


def is_finite(dist: Distribution) -> bool:
    """Whether the support can be listed."""
    return isinstance(dist, Concrete | BinaryConcrete | Categorical | OneHotCategorical | Bernoulli)


def support(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """All K values, shape ``(K, event...)``; the shapes asked for play no part."""
    if isinstance(dist, Concrete | OneHotCategorical):
        like = dist.logits
        return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)
    if isinstance(dist, BinaryConcrete | Bernoulli):
        return torch.arange(2, dtype=dist.logits.dtype, device=dist.logits.device)
    assert isinstance(dist, Categorical)
    return torch.arange(dist.logits.shape[-1], device=dist.logits.device)
