"""One distribution from several: parameters of many items, or of one encoder run at many parent values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor
from torch.distributions import Distribution

from unknot.core.distributions import map_parameters
from unknot.errors import SpecError


def parameters(dist: Distribution) -> list[Tensor]:
    """The parameter tensors, each with all of the distribution's batch axes."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    map_parameters(dist, note)
    return found


def join_distributions(dists: Sequence[Distribution], join: Callable[[list[Tensor]], Tensor]) -> Distribution:
    """Each parameter of the result is ``join`` of theirs.

    >>> import torch
    >>> from torch.distributions import Normal
    >>> join_distributions([Normal(torch.zeros(3), 1.0), Normal(torch.ones(2), 2.0)], torch.cat).loc.shape
    torch.Size([5])
    """
    if any(type(dist) is not type(dists[0]) for dist in dists):
        kinds = ", ".join(sorted({type(dist).__name__ for dist in dists}))
        raise SpecError(f"expected distributions of one family at a site, got {kinds}")
    joined = iter([join(list(tensors)) for tensors in zip(*map(parameters, dists), strict=True)])
    return map_parameters(dists[0], lambda _: next(joined))
