"""Noise that is the same however many processes share a batch.

When a batch is split over processes that all hold the same random state, every process draws the noise of the
whole batch and keeps the rows of its own items. Draws are then those of one process with the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Size, Tensor

_rank, _world = 0, 1


@contextmanager
def shard(rank: int, world: int) -> Iterator[None]:
    """Inside, draws take part ``rank`` of ``world`` equal parts of the global batch's noise."""
    global _rank, _world
    before = _rank, _world
    _rank, _world = rank, world
    try:
        yield
    finally:
        _rank, _world = before


def fill(shape: Size, event_dims: int, like: Tensor, fill_: Callable[[Tensor], Tensor]) -> Tensor:
    """A tensor of ``shape`` filled in place by ``fill_``; its batch axis stands before ``event_dims`` axes."""
    if _world == 1:
        return fill_(torch.empty(shape, dtype=like.dtype, device=like.device))
    batch_axis = len(shape) - event_dims - 1
    if batch_axis < 0:  # one draw shared by all items
        return fill_(torch.empty(shape, dtype=like.dtype, device=like.device))
    items = shape[batch_axis]
    whole = (*shape[:batch_axis], items * _world, *shape[batch_axis + 1 :])
    noise = fill_(torch.empty(whole, dtype=like.dtype, device=like.device))
    return noise.narrow(batch_axis, _rank * items, items)


def own_turn(draw: Callable[[], Tensor]) -> Tensor:
    """For draws whose noise cannot be split: every process draws ``world`` times and keeps its own turn.

    Items get independent noise and the processes' random states stay equal, but the draws are not those of
    one process with the whole batch.
    """
    draws = [draw() for _ in range(_world)]
    return draws[_rank]
