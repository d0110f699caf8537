"""The one statement of axes.

Every tensor of a Trace program is laid out as::

    (enumerated ..., samples, batch, event ...)
     |------ leading axes -------|  |-------- one item's value

* ``batch`` is the last leading axis. Data and labels are ``(B, event...)``: one leading axis.
* ``samples`` stands before it once ``Trace(samples=S)`` has drawn something: two leading axes.
* Each enumerated site adds one axis further left; where there is enumeration the samples axis is
  always present (with size 1 if nothing asked for samples), so that counting from the right is enough.

Axes are aligned from the right, as torch broadcasts: parameters may lack leading axes, or be scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.errors import TraceError

SAMPLES = -2  # position of the samples axis among the leading axes


def cat(tensors: Sequence[Tensor], dim: int = -1) -> Tensor:
    """Join ``tensors`` along ``dim`` like ``torch.cat``, after broadcasting all their other axes.

    ``dim`` counts from the right (it is negative), because leading axes may differ. Returns one tensor:

    >>> h = torch.zeros(128, 256)          # (B, H): the trunk ran once
    >>> y = torch.zeros(5, 128, 10)        # (S, B, K): drawn S times
    >>> cat([h, y], -1).shape
    torch.Size([5, 128, 266])
    """
    if dim >= 0:
        raise ValueError(f"cat counts dim from the right: use a negative dim, not {dim}")
    if dim == -1 and len({t.shape[:-1] for t in tensors}) == 1:
        return torch.cat(list(tensors), -1)
    others = [t.shape[:dim] + Size((1,)) + (t.shape[dim:][1:]) for t in tensors]
    if all(shape == others[0] for shape in others):
        return torch.cat(list(tensors), dim)
    common = torch.broadcast_shapes(*others)
    expanded = [t.expand(*common[:dim], t.shape[dim], *common[dim:][1:]) for t in tensors]
    return torch.cat(expanded, dim)


def sum_event(values: Tensor, event_dims: int) -> Tensor:
    """Sum over the trailing ``event_dims`` axes: elementwise log-probabilities to one value per item."""
    if event_dims == 0:
        return values
    if event_dims == 1:
        return values.sum(-1)
    return values.flatten(-event_dims).sum(-1)


def infer_leading(shape: Size, leading: Size) -> int:
    """How many leading axes a parameter of ``shape`` has, in a trace whose leading axes are ``leading``.

    The largest number of axes that agree exactly with the trace's own wins; if there is none, axes of
    size one may stand for them; if that fails too the parameter is one value shared by all items.
    Before anything is known of the trace, the first axis is taken to be the batch.
    """
    if not leading:
        return min(len(shape), 1)
    most = min(len(shape), len(leading))
    for count in range(most, 0, -1):
        if tuple(shape[:count]) == tuple(leading[-count:]):
            return count
    for count in range(most, 0, -1):
        pairs = zip(shape[:count], leading[-count:], strict=True)
        if all(size in (1, own) for size, own in pairs):
            return count
    return 0


def per_item(mask: Tensor, event_dims: int) -> Tensor:
    """Give a mask over leading axes ``event_dims`` trailing axes of size one, to select whole items."""
    return mask.reshape(mask.shape + (1,) * event_dims)


# ---- the axes of a draw: read from its parameters' shape and from what the trace has seen so far --------


def extra_event(name: str, dist: Distribution, event_dims: int | None, leading: Size) -> int:
    """How many trailing axes of the batch shape belong to one item."""
    shape, own = dist.batch_shape, len(dist.event_shape)
    if event_dims is not None:
        if not own <= event_dims <= own + len(shape):
            raise TraceError(
                f"site '{name}': event_dims={event_dims} does not fit parameters of {type(dist).__name__} with "
                f"shape {tuple(shape + dist.event_shape)}; give them the shape of one item's value"
            )
        return event_dims - own
    if own:
        return 0
    count = infer_leading(shape, leading)
    if count == len(shape) > 1 and shape[: count - 1] == leading[1 - count :]:
        raise TraceError(
            f"site '{name}': parameters of shape {tuple(shape)} could be one number for each draw and item, or "
            "a vector for each item; say event_dims=0 or event_dims=1 at the site"
        )
    return len(shape) - count


def with_leading(
    name: str, dist: Distribution, extra: int, leading: Size, samples: int | None
) -> tuple[Distribution, Size]:
    """What to draw so that the value has all leading axes: the distribution and a sample shape."""
    shape = dist.batch_shape
    own = shape[: len(shape) - extra]  # leading axes the parameters have
    wanted = leading[-2:] or own[-1:]
    if samples is not None:
        wanted = Size((samples,)) + (wanted[-1:] or Size((1,)))
    if len(own) <= len(wanted) and own == wanted[len(wanted) - len(own) :]:
        return dist, wanted[: len(wanted) - len(own)]
    full = merge(name, own, wanted)
    if full == own:
        return dist, Size()
    return dist.expand(full + shape[len(shape) - extra :]), Size()


def prior_event_dims(
    name: str, dist: Distribution, batch: int, event_dims: int | None, known: int | None
) -> int | None:
    """The site's own ``event_dims``; what is ``known`` of them from elsewhere where its parameters do not tell.

    Parameters that could be one vector for all items, or one number each, and of which nothing is known, are refused.
    """
    shape = dist.batch_shape
    if event_dims is not None or dist.event_shape or len(shape) != 1 or shape[0] != batch:
        return event_dims
    if known is None:
        raise TraceError(
            f"site '{name}': parameters of shape ({batch},) could be one vector for all items or one number "
            f"for each of the {batch} items; say event_dims=1 or event_dims=0 at the site"
        )
    return known


def merge(name: str, seen: Size, leading: Size) -> Size:
    """The leading axes of a site together with those of the trace."""
    try:
        return torch.broadcast_shapes(seen, leading)
    except RuntimeError:
        raise TraceError(
            f"site '{name}': its leading axes {tuple(seen)} do not fit those of its labels or of the sites before it, "
            f"{tuple(leading)}; axes are (samples, batch), aligned from the right"
        ) from None
