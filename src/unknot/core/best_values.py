"""A switch that makes programs take the best value of every site instead of a draw.

A recogniser is asked what it sees, not for a sample: inside :func:`best_values` every site that would be drawn or
enumerated takes the single best value of its distribution, and later sites are computed from it. The answer is the
same each time, for any Trace program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core.relaxed import BinaryConcrete, Concrete

_wanted = False


@contextmanager
def best_values() -> Iterator[None]:
    """Inside, programs draw nothing: every site without a value takes its best one.

    >>> from unknot import Trace
    >>> with best_values():
    ...     Trace().concrete(torch.tensor([[0.0, 2.0, 1.0]]), 0.66, name="y")
    tensor([[0., 1., 0.]])
    """
    global _wanted
    before = _wanted
    _wanted = True
    try:
        yield
    finally:
        _wanted = before


def wanted() -> bool:
    """Whether best values are taken now."""
    return _wanted


def best_value(dist: Distribution) -> Tensor:
    """The likeliest class or answer of a discrete distribution, as its draws have it; else the mean."""
    if isinstance(dist, Concrete | OneHotCategorical):
        return one_hot(dist.logits.argmax(-1), dist.logits.shape[-1]).to(dist.logits.dtype)
    if isinstance(dist, Categorical):
        return dist.logits.argmax(-1)
    if isinstance(dist, Bernoulli | BinaryConcrete):
        return (dist.logits > 0).to(dist.logits.dtype)
    return dist.mean
