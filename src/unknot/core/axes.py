"""The one statement of axes.

Every tensor of a Trace program is laid out as::

    (enumerated ..., samples, batch, event ...)
     `----- leading axes ---------'  `-------- one item's value

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

SAMPLES = -2  # position of the samples axis among the leading axes
BATCH = -1  # position of the batch axis among the leading axes


def cat(tensors: Sequence[Tensor], dim: int = -1) -> Tensor:
    """Join tensors along ``dim`` like ``torch.cat``, after broadcasting all their other axes.

    ``dim`` counts from the right (it is negative), because leading axes may differ:

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
