"""A stretch of items, of dense data and of sparse."""

from __future__ import annotations

from torch import Tensor


def item_rows(x: Tensor, start: int, stop: int) -> Tensor:
    """Items from ``start`` to before ``stop``; slices do not take sparse tensors, which are cut row by row."""
    if not x.is_sparse:
        return x[start:stop]
    return x.narrow_copy(0, start, min(stop, len(x)) - start).coalesce()
