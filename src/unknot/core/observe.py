"""Turning what a user hands over as an observation into the form a site's draws have."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core import validation
from unknot.core.relaxed import Concrete
from unknot.errors import TraceError


def as_value(name: str, dist: Distribution, given: Any, known: Tensor | bool = True) -> Tensor:
    """An observed value in the form of the site's draws: class indices become one-hot where draws are.

    At one-of-K sites integers are class indices, unless their last axis has size K: then they are one-hot.
    """
    value = given if isinstance(given, Tensor) else torch.as_tensor(given)
    if isinstance(dist, Concrete | OneHotCategorical):
        return _as_one_hot(name, dist, value, known)
    if isinstance(dist, Categorical):
        if value.is_floating_point():
            raise TraceError(f"site '{name}': classes are whole numbers, but the labels are {value.dtype}")
        return value.long() if known is True else value.long().clamp_min(0)
    parameters = [p for p in dist.__dict__.values() if isinstance(p, Tensor) and p.is_floating_point()]
    return value.to(parameters[0].dtype) if parameters and value.dtype != parameters[0].dtype else value


def _as_one_hot(name: str, dist: Concrete | OneHotCategorical, value: Tensor, known: Tensor | bool) -> Tensor:
    classes = dist.event_shape[0]
    if not _is_index(dist, value):
        if value.ndim == 0 or value.shape[-1] != classes:
            raise TraceError(
                f"site '{name}' has {classes} classes: expected class indices (whole numbers) or one-hot vectors "
                f"of size {classes}, but got {value.dtype} of shape {tuple(value.shape)}"
            )
        return value.to(dist.logits.dtype)
    inside = value.clamp(0, classes - 1)
    if validation.is_on() and not torch.equal(inside, value):
        _check_range(name, value, inside, classes, known)
    return one_hot(inside.long(), classes).to(dist.logits.dtype)


def _is_index(dist: Distribution, value: Tensor) -> bool:
    """Whether a one-of-K value is given as class indices."""
    return not value.is_floating_point() and (value.ndim < 2 or value.shape[-1] != dist.event_shape[0])


def check_observed(
    name: str, dist: Distribution, given: Any, value: Tensor, known: Tensor | bool, event_dims: int
) -> None:
    """Refuse an observation outside the support; ``value`` is what :func:`as_value` made of what was ``given``."""
    if isinstance(dist, Concrete | OneHotCategorical) and _is_index(dist, torch.as_tensor(given)):
        return  # their range was checked, and one-hot vectors made of them are what they must be
    validation.check_value(name, dist, value, known, event_dims)


def _check_range(name: str, index: Tensor, inside: Tensor, classes: int, known: Tensor | bool) -> None:
    """Refuse labels of known items that are not ``inside`` the range of classes."""
    bad = inside != index
    if isinstance(known, Tensor):
        bad = bad & known.reshape(known.shape + (1,) * (bad.ndim - known.ndim))
    if bool(bad.any()):
        item = int(bad.nonzero()[0, 0])
        raise TraceError(
            f"site '{name}': the label of item {item} is {index[item].tolist()}, but classes are 0 to {classes - 1}. "
            "If it marks an unknown label, use unknot.partial(labels) or unknot.partial(labels, known)."
        )


def check_shapes(name: str, dist: Distribution, value: Tensor, leading_dims: int) -> None:
    """Refuse parameters that cannot broadcast with the value, or that would enlarge one item's value."""
    own = dist.batch_shape + dist.event_shape
    if own == value.shape:
        return
    event = value.shape[leading_dims:]
    aligned = own[len(own) - len(event) :] if len(own) >= len(event) else own
    fits = all(size in (1, want) for size, want in zip(reversed(aligned), reversed(event), strict=False))
    if fits and _broadcasts(own, value.shape) and not _crosses_items(own, value.shape, leading_dims):
        return
    raise TraceError(
        f"site '{name}': the value has shape {tuple(value.shape)} ({leading_dims} leading axes, one item is "
        f"{tuple(event) or 'a number'}), but the parameters of {type(dist).__name__} have shape {tuple(own)}; "
        "axes are (samples, batch, event...), aligned from the right"
    )


def _crosses_items(own: torch.Size, shape: torch.Size, leading_dims: int) -> bool:
    """Whether parameters such as ``(B, 1)`` would meet a value ``(B,)`` as ``(B, B)``, items times items."""
    if leading_dims == 0 or len(own) <= len(shape):
        return False
    return own[len(own) - 1 - (len(shape) - leading_dims)] == 1 != shape[leading_dims - 1]


def check_label_shape(name: str, label: Tensor, drawn: Tensor, event_dims: int) -> None:
    """Refuse labels for another number of items, or of another size, than the site draws."""
    leading = drawn.ndim - event_dims
    batch = drawn.shape[leading - 1 : leading]
    if label.shape[1:] == drawn.shape[leading:] and batch in (label.shape[:1], (1,)):
        return
    raise TraceError(
        f"site '{name}': labels of shape {tuple(label.shape)} do not fit draws of shape {tuple(drawn.shape)}, of "
        f"which the last {event_dims} axes are one item's value; expected {tuple(batch + drawn.shape[leading:])}"
    )


def _broadcasts(one: torch.Size, other: torch.Size) -> bool:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or a == 1 or b == 1 for a, b in pairs)
