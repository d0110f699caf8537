"""Every tensor that a distribution is made of."""

from __future__ import annotations

from torch import Tensor
from torch.distributions import Distribution, Transform


def tensors_behind(dist: Distribution) -> list[Tensor]:
    """Every tensor that a distribution holds, in its parts too: a mixture's components, a flow's transforms."""
    found: list[Tensor] = []
    stack: list[object] = [dist]
    met = {id(dist)}  # a transform and its inverse hold each other
    while stack:
        for value in vars(stack.pop()).values():
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, Tensor):
                    found.append(one)
                elif isinstance(one, Distribution | Transform) and id(one) not in met:
                    met.add(id(one))
                    stack.append(one)
    return found
