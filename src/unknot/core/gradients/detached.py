"""A choice that learns from its labels alone: a hard draw, and no gradient from whatever comes after it.

For decisions that are taught rather than discovered, such as where to look next. It is drawn as with the score
function. Items without a label count it at its full value, log p - log q, but its parameters get no gradient from
them: neither through the draw, which is hard, nor through log q, which alone would only flatten the choice, since
nothing says which value was good. What does say so, such as a reward of sure classes
(:mod:`unknot.objectives.parts.class_parts`), is heard: the site keeps its distribution with all its gradient beside.
"""

from __future__ import annotations

from torch import Tensor
from torch.distributions import Distribution

from unknot.core.distribution_parameters import with_tensors
from unknot.core.inactive import held_distribution


def taught(dist: Distribution, known: Tensor | bool, event_dims: int) -> Distribution:
    """``dist`` with parameters that pass gradient at the ``known`` items alone; one item has ``event_dims`` axes."""
    if not isinstance(known, Tensor):
        return dist if known else with_tensors(dist, Tensor.detach)
    own = len(dist.event_shape)
    if len(dist.batch_shape) + own == event_dims:  # one set of parameters for all items
        dist = dist.expand(known.shape + dist.batch_shape)
    return held_distribution(dist, known, event_dims)
