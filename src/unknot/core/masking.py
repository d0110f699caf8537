"""Items that a ``where`` block switches off: they count nothing, and pass no gradient, whatever stands there.

Zeroing an inactive item's log-probability is not enough. Its gradient is zero times the slope of a density, and where
parameters are infinite (a loop that has run on, a division by nothing) that is zero times infinity: NaN, which would
spread to all weights. So parameters and values of inactive items are held constant *before* they are scored. The draw
of an inactive item with parameters that are not finite is made from constants, too, and a draw that is not finite
becomes zero before a network sees it.
"""

from __future__ import annotations

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core.axes import per_item
from unknot.core.distributions import with_tensors
from unknot.errors import TraceError


def held(tensor: Tensor, active: Tensor, leading_dims: int) -> Tensor:
    """``tensor`` with its gradient cut at the inactive items; its first ``leading_dims`` axes are the leading ones.

    >>> loc = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (held(loc, torch.tensor([True, False]), 1) ** 2).sum().backward()
    >>> loc.grad
    tensor([2., 0.])
    """
    if not tensor.requires_grad:
        return tensor
    return _cut(tensor, over(active, tensor.shape[:leading_dims]), leading_dims)


def held_distribution(dist: Distribution, active: Tensor, event_dims: int) -> Distribution:
    """A copy of ``dist`` whose parameters pass no gradient at the inactive items; one item has ``event_dims`` axes."""
    leading = _leading(dist, event_dims)
    if not leading:
        return dist  # one set of parameters for all items
    mask = over(active, leading)  # once for all parameters

    def held_parameter(tensor: Tensor) -> Tensor:
        theirs = tensor.requires_grad and tensor.shape[: len(leading)] == leading
        return _cut(tensor, mask, len(leading)) if theirs else tensor

    return with_tensors(dist, held_parameter)


def drawable(dist: Distribution, active: Tensor, event_dims: int) -> Distribution:
    """``dist`` for a draw: held at inactive items of which some parameter is not finite."""
    leading = _leading(dist, event_dims)
    if not leading or not torch.is_grad_enabled():
        return dist
    good = torch.ones(leading, dtype=torch.bool, device=active.device)

    def look(tensor: Tensor) -> Tensor:
        nonlocal good
        if tensor.is_floating_point() and tensor.shape[: len(leading)] == leading:
            good = good & tensor.isfinite().reshape(*leading, -1).all(-1)
        return tensor

    with_tensors(dist, look)
    return held_distribution(dist, good | over(active, leading), event_dims)


def _leading(dist: Distribution, event_dims: int) -> Size:
    """The leading axes that the parameters have."""
    return dist.batch_shape[: max(0, len(dist.batch_shape) + len(dist.event_shape) - event_dims)]


def finite(value: Tensor, active: Tensor, leading_dims: int) -> Tensor:
    """``value`` with zeros where an inactive item's is not finite."""
    if not value.is_floating_point():
        return value
    mask = per_item(over(active, value.shape[:leading_dims]), value.ndim - leading_dims)
    return torch.where(mask | value.isfinite(), value, 0.0)


def _cut(tensor: Tensor, mask: Tensor, leading_dims: int) -> Tensor:
    """``tensor`` without its gradient where ``mask``, over its leading axes, is false."""
    return torch.where(per_item(mask, tensor.ndim - leading_dims), tensor, tensor.detach())


def over(active: Tensor, leading: Size) -> Tensor:
    """The mask over fewer leading axes: active is what is active for some draw or enumerated value."""
    while active.ndim > len(leading):
        active = active.any(0)
    for axis in range(active.ndim):
        if leading[len(leading) - active.ndim + axis] == 1:
            active = active.any(axis, keepdim=True)
    if any(
        size not in (1, own) for size, own in zip(reversed(active.shape), reversed(leading), strict=False)
    ):
        raise TraceError(
            f"the mask of where() has shape {tuple(active.shape)}, but the leading axes of a site inside are "
            f"{tuple(leading)}; expected one entry per item"
        )
    return active
