"""A loss function's result as one number per item."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Size, Tensor

from unknot.errors import TraceError


def item_loss(
    name: str, fn: Callable[[Tensor, Tensor], Tensor], value: Tensor, target: Tensor, leading: Size
) -> tuple[Tensor, int]:
    """``fn(value, target)`` summed over each item, and how many leading axes it has.

    The target is ``(B, event...)``. It is repeated along the sample axes of the prediction, since torch's loss
    functions want two tensors of one shape; a sparse target, ``(B, V)``, goes to ``fn`` as it is.
    """
    if target.ndim == 0:
        raise TraceError(
            f"site '{name}': the target has no batch axis; expected one target per item, (B, ...)"
        )
    batch, event = target.shape[0], target.ndim - 1
    extra = value.ndim - target.ndim
    if extra > 0 and value.shape[extra] == 1 != batch:
        raise TraceError(
            f"site '{name}': the prediction has shape {tuple(value.shape)} and the target {tuple(target.shape)}, "
            "which would pair every item with every other; drop the prediction's axis of size one"
        )
    full = _joint_shape(value, target)
    if extra > 0 and value.shape == full and value.ndim == len(leading) + event and not target.is_sparse:
        target = target.expand(value.shape)
    loss = fn(value, target)
    if loss.ndim == 0:
        raise TraceError(
            f"site '{name}': the loss function returned one number for the whole batch; it must return one per "
            "item or per element (in torch.nn.functional: reduction='none')"
        )
    if full is not None and event and loss.ndim == len(full):
        return loss.flatten(-event).sum(-1), len(full) - event
    if loss.shape[-1] == batch and (full is None or loss.ndim <= len(full) - event):
        return loss, loss.ndim
    elements = f", or one per element, {tuple(full)}" if full is not None else ""
    raise TraceError(
        f"site '{name}': the loss has shape {tuple(loss.shape)}; expected one value per item, "
        f"(..., {batch}){elements}"
    )


def _joint_shape(value: Tensor, target: Tensor) -> Size | None:
    """The shape of elementwise losses; None if the two do not pair up, as logits and class indices."""
    try:
        return torch.broadcast_shapes(value.shape, target.shape)
    except RuntimeError:
        return None
