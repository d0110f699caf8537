"""Values that are known for some items of a batch and unknown for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from unknot.errors import TraceError
from unknot.schema import shown


@dataclass(frozen=True)
class Partial:
    """Values ``(B, event...)`` and a mask ``(B,)`` of the items for which they are known.

    Make one with :func:`partial`. What stands in ``values`` where ``known`` is false is never used.
    """

    values: Tensor
    known: Tensor


def partial(values: Any, known: Any = None) -> Partial:
    """Say which items' values are known: the one way to supervise, at any site, item by item.

    Arguments:

    * ``values``: one value per item, ``(B, event...)``; what stands where nothing is known is never read;
    * ``known``: a boolean per item, ``(B,)``. Without it, -1 marks an unknown class (integers) and NaN an unknown
      number (floats); an item with a NaN in any of its entries is unknown.

    Returns a :class:`Partial`, for a site's ``value=``.

    >>> partial(torch.tensor([3, -1, 7])).known
    tensor([ True, False,  True])
    >>> partial(torch.tensor([[0.1, 0.2], [float("nan"), 0.0]])).known
    tensor([ True, False])
    >>> partial(torch.tensor([3, 5]), known=[True, False]).known
    tensor([ True, False])
    """
    try:
        values = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):  # words, None, rows of different length
        raise TraceError(
            "partial() takes numbers, one value per item, of which -1 is an unknown class and NaN an unknown number; "
            f"got {shown(values)}"
        ) from None
    if values.ndim == 0:
        raise TraceError("partial() takes one value per item, shape (B, ...), but got a single number")
    if known is None:
        known = _known_from(values)
    known = torch.as_tensor(known, dtype=torch.bool, device=values.device)
    if known.shape != values.shape[:1]:
        raise TraceError(
            f"partial() takes one known flag per item: values of shape {tuple(values.shape)} need known of "
            f"shape ({values.shape[0]},), but got {tuple(known.shape)}"
        )
    return Partial(values, known)


def _known_from(values: Tensor) -> Tensor:
    present = values >= 0 if not values.is_floating_point() else ~torch.isnan(values)
    return present if present.ndim == 1 else present.flatten(1).all(1)
