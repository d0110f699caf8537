"""Helpers around ``torch.distributions``: copies with changed parameters, precision, fast constructors, masks."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal, Transform
from torch.nn.functional import logsigmoid

from unknot.core.axes import per_item
from unknot.core.evidence import Partial
from unknot.errors import SpecError, TraceError

# Families that take one of several parametrizations, the preferred first. The others may be cached beside it.
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


_HALF = (torch.bfloat16, torch.float16)


def in_full_precision(dist: Distribution) -> Distribution:
    """The distribution itself, or a copy with float32 parameters if any of them is in half precision.

    >>> low = torch.distributions.Normal(torch.zeros(3, dtype=torch.bfloat16), 1.0)
    >>> in_full_precision(low).loc.dtype
    torch.float32
    """
    return map_parameters(dist, Tensor.float) if _has_half(dist) else dist


def without_autocast(values: Tensor) -> AbstractContextManager[None]:
    """Inside, matrix products of tensors like these are taken in their own precision.

    >>> with torch.autocast("cpu", torch.bfloat16), without_autocast(torch.ones(2, 2)):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.float32
    """
    found: AbstractContextManager[None] = torch.autocast(values.device.type, enabled=False)
    return found


def _has_half(dist: Distribution) -> bool:
    for held in dist.__dict__.values():
        if isinstance(held, Tensor):
            if held.dtype in _HALF:
                return True
        elif isinstance(held, Distribution) and _has_half(held):  # OneHotCategorical keeps a Categorical
            return True
    return False


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


def categorical(probs: Tensor | None, logits: Tensor | None) -> Categorical:
    """``Categorical(probs, logits)``.

    >>> categorical(None, torch.zeros(4, 2)).logits[0]
    tensor([-0.6931, -0.6931])
    """
    if probs is not None or not isinstance(logits, Tensor) or logits.ndim == 0:
        return Categorical(probs, logits, validate_args=False)
    dist = Categorical.__new__(Categorical)
    dist.logits = dist._param = logits.log_softmax(-1)
    dist._num_events = logits.shape[-1]
    Distribution.__init__(dist, logits.shape[:-1], validate_args=False)
    return dist


def match_dtype(value: Any, *parameters: Number) -> list[Number]:
    """The parameters; if none is a tensor, as tensors of the floating type of a site's ``value``.

    >>> match_dtype(torch.zeros(3, dtype=torch.float64), 0.1)
    [tensor(0.1000, dtype=torch.float64)]
    >>> match_dtype(None, 0.1)
    [tensor(0.1000)]
    """
    if any(isinstance(parameter, Tensor) for parameter in parameters):
        return list(parameters)
    dtype = _floating_type(value)
    return [torch.tensor(parameter, dtype=dtype) for parameter in parameters]


def _floating_type(value: Any) -> torch.dtype:
    given = (
        value.values if isinstance(value, Partial) else getattr(value, "value", value)
    )  # of a node its value
    if isinstance(given, Tensor) and given.dtype in (torch.float32, torch.float64):
        return given.dtype
    return torch.get_default_dtype()


def stick_breaking_count(stop_logits: Tensor) -> Categorical:
    """The distribution of n, 0 to K, of a loop of at most K turns, from the log-odds ``(..., K)`` of stopping.

    Stick-breaking: with s_k = sigmoid(stop_logits_k), the probability of no turn k given that all before it happened,

        P(n = k) = s_k Π_{j<k} (1 - s_j)  for k < K,        P(n = K) = Π_j (1 - s_j)

    K + 1 states, where K stops as sites of their own would have 2^K. Log-odds of -inf: that turn cannot be missed.

    >>> stick_breaking_count(torch.zeros(3)).probs
    tensor([0.5000, 0.2500, 0.1250, 0.1250])
    """
    stop, go_on = logsigmoid(stop_logits), logsigmoid(-stop_logits)
    none = torch.zeros_like(stop_logits[..., :1])
    so_far = torch.cat([none, go_on.cumsum(-1)], -1)  # (..., K + 1): all turns before k happened
    return Categorical(logits=so_far + torch.cat([stop, none], -1), validate_args=False)


# ---- items that a ``where`` block switches off -------------------------------------------------------------
# They count nothing, and pass no gradient, whatever stands there. Zeroing an inactive item's log-probability is not
# enough: its gradient is zero times the slope of a density, and where parameters are infinite (a loop that has run on,
# a division by nothing) that is zero times infinity, NaN, which would spread to all weights. So parameters and values
# of inactive items are held constant *before* they are scored. The draw of an inactive item with parameters that are
# not finite is made from constants, too, and a draw that is not finite becomes zero before a network sees it.


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
