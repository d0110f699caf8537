"""Copies of a torch distribution with changed parameters, whatever its family."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.distributions import Distribution, Independent, Transform

from unknot.errors import SpecError

# Families that take one of several parametrisations, the preferred first. The others may be cached beside it.
ALTERNATIVES = (("logits", "probs"), ("scale_tril", "covariance_matrix", "precision_matrix"))


def map_parameters(dist: Distribution, change: Callable[[Tensor], Tensor]) -> Distribution:
    """Apply ``change`` to every parameter with the distribution's batch shape, and build it anew.

    Parameters shared by the batch (a temperature) stay as they are; distributions inside distributions
    (``Independent``, mixtures) are rebuilt in turn.
    """
    if isinstance(dist, Independent):  # keeps its argument under another name
        return Independent(map_parameters(dist.base_dist, change), dist.reinterpreted_batch_ndims, False)
    arguments: dict[str, Any] = {}
    for name, value in _constructor_arguments(dist).items():
        if isinstance(value, Distribution):
            arguments[name] = map_parameters(value, change)
        elif isinstance(value, Tensor) and value.shape[: len(dist.batch_shape)] == dist.batch_shape:
            arguments[name] = change(value)
        else:
            arguments[name] = value
    return type(dist)(**arguments)


def with_tensors(dist: Distribution, change: Callable[[Tensor], Tensor]) -> Distribution:
    """A copy in which every tensor is ``change`` of it, through the distributions and transforms ``dist`` is made of.

    Unlike :func:`map_parameters` it calls no constructor, so shapes must stay as they are.

    >>> import torch
    >>> loc = torch.zeros(3, requires_grad=True)
    >>> with_tensors(torch.distributions.LogNormal(loc, 1.0), Tensor.detach).base_dist.loc.requires_grad
    False
    """
    made: dict[int, Any] = {}  # the copies so far: a transform and its inverse hold each other

    def changed(held: Any) -> Any:
        if isinstance(held, Tensor):
            return change(held)
        if isinstance(held, list):
            return [changed(part) for part in held]
        if not isinstance(held, Distribution | Transform):
            return held
        if id(held) not in made:
            twin = made[id(held)] = copy.copy(held)
            for name, value in vars(held).items():
                setattr(twin, name, changed(value))
            if isinstance(twin, Transform):  # a remembered draw would stand for the unchanged parameters
                twin._cached_x_y = (None, None)
        return made[id(held)]

    copied: Distribution = changed(dist)
    return copied


def _constructor_arguments(dist: Distribution) -> dict[str, Any]:
    """What ``type(dist)(...)`` was called with, read back from attributes of the same names."""
    found: dict[str, Any] = {}
    missing = []
    for name, parameter in inspect.signature(type(dist)).parameters.items():
        if name == "validate_args":
            found[name] = False  # they were valid before
        elif name in dist.__dict__ or isinstance(getattr(type(dist), name, None), property):
            found[name] = getattr(dist, name)
        elif parameter.default is parameter.empty:
            missing.append(name)
    if missing:
        raise SpecError(
            f"{type(dist).__name__}: cannot be rebuilt for the items of all processes, because it does not keep its "
            f"arguments {missing}; store them as attributes of the same names"
        )
    for names in ALTERNATIVES:
        for other in [name for name in names if name in found][1:]:
            del found[other]
    return found
