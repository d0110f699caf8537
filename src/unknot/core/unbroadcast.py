"""torch's two busiest distributions, made without broadcasting where there is nothing to broadcast.

``td.Normal(loc, scale)`` spends more time on its arguments than on anything else a site does with it. The
results are the same objects, of the same classes.
"""

from __future__ import annotations

from torch import Tensor
from torch.distributions import Bernoulli, Distribution, Normal

Number = Tensor | float


def normal(loc: Number, scale: Number) -> Normal:
    """``Normal(loc, scale)``.

    >>> normal(torch.tensor(0.0), torch.tensor(1.0))
    Normal(loc: 0.0, scale: 1.0)
    """
    if not (isinstance(loc, Tensor) and isinstance(scale, Tensor) and loc.shape == scale.shape):
        return Normal(loc, scale, validate_args=False)
    dist = Normal.__new__(Normal)
    dist.loc, dist.scale = loc, scale
    Distribution.__init__(dist, loc.shape, validate_args=False)
    return dist


def bernoulli(probs: Number | None, logits: Number | None) -> Bernoulli:
    """``Bernoulli(probs, logits)``."""
    if probs is not None or not isinstance(logits, Tensor):
        return Bernoulli(probs, logits, validate_args=False)
    dist = Bernoulli.__new__(Bernoulli)
    dist.logits = dist._param = logits
    Distribution.__init__(dist, logits.shape, validate_args=False)
    return dist
