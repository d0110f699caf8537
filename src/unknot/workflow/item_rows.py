"""Stretches of items: how many go through the networks at once, and how they are cut out of dense data and sparse."""

from __future__ import annotations

from torch import Size, Tensor

_ITEMS = 1000
_NUMBERS = 1 << 24  # of all items together; 64 MB


def items_at_once(shape: Size) -> int:
    """How many items of that shape go through the networks at once, so that memory follows them and not the data.

    >>> items_at_once(Size([1, 28, 28])), items_at_once(Size([3, 256, 256]))
    (1000, 85)
    """
    return max(1, min(_ITEMS, _NUMBERS // max(1, shape.numel())))


def item_rows(x: Tensor, start: int, stop: int) -> Tensor:
    """Items from ``start`` to before ``stop``; slices do not take sparse tensors, which are cut row by row."""
    if not x.is_sparse:
        return x[start:stop]
    return x.narrow_copy(0, start, min(stop, len(x)) - start).coalesce()
