"""The plug-in estimator (S16 sec. 2.2): pass the probability vector on instead of a draw.

For a discrete y that only feeds a network, E_q(y) f(y) is replaced by f(E_q y) = f(π). It is exact when q is
a point mass or f is linear, has no variance, and is biased otherwise. Scored by the mass, y = π makes the
site's KL term exact: Σ_k π_k log(π_k / p_k).
"""

from __future__ import annotations

from torch import Size, Tensor
from torch.distributions import Bernoulli, Distribution, OneHotCategorical

from unknot.core.relaxed import Relaxed


def sample(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """The vector of probabilities, once per requested sample."""
    assert isinstance(dist, Relaxed | OneHotCategorical | Bernoulli)
    probs = dist.probs
    return probs.expand(sample_shape + probs.shape) if sample_shape else probs
