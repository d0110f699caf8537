"""Which axes a draw has: read from its parameters' shape and from what the trace has seen so far."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Distribution

from unknot.core.axes import infer_leading
from unknot.errors import TraceError


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


def check_prior_shape(name: str, dist: Distribution, batch: int, event_dims: int | None) -> None:
    """Refuse to generate from parameters that are one vector for all items or one number each: who knows."""
    shape = dist.batch_shape
    if event_dims is None and not dist.event_shape and len(shape) == 1 and shape[0] == batch:
        raise TraceError(
            f"site '{name}': parameters of shape ({batch},) could be one vector for all items or one number "
            f"for each of the {batch} items; say event_dims=1 or event_dims=0 at the site"
        )


def merge(name: str, seen: Size, leading: Size) -> Size:
    """The leading axes of a site together with those of the trace."""
    try:
        return torch.broadcast_shapes(seen, leading)
    except RuntimeError:
        raise TraceError(
            f"site '{name}': its leading axes {tuple(seen)} do not fit those of its labels or of the sites before it, "
            f"{tuple(leading)}; axes are (samples, batch), aligned from the right"
        ) from None
