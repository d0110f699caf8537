"""Noise of a batch that is split over processes: each gets the rows of its own items."""

from __future__ import annotations

import torch
from torch import Size, Tensor

from unknot.core import noise


def draw(shape: tuple[int, ...], event_dims: int) -> Tensor:
    torch.manual_seed(0)
    return noise.fill(Size(shape), event_dims, torch.empty(0), Tensor.normal_)


def test_two_parts_are_the_rows_of_the_whole() -> None:
    whole = draw((3, 8, 2), event_dims=1)
    parts = []
    for rank in range(2):
        with noise.shard(rank, 2):
            parts.append(draw((3, 4, 2), event_dims=1))
    torch.testing.assert_close(torch.cat(parts, 1), whole)
    torch.testing.assert_close(draw((3, 8, 2), event_dims=1), whole)  # the block has ended


def test_a_draw_shared_by_all_items_is_the_same_everywhere() -> None:
    alone = draw((2,), event_dims=1)
    with noise.shard(1, 2):
        torch.testing.assert_close(draw((2,), event_dims=1), alone)


def test_what_cannot_be_split_is_drawn_in_turns_that_leave_one_random_state() -> None:
    found, states = [], []
    for rank in range(2):
        torch.manual_seed(0)
        with noise.shard(rank, 2):
            found.append(noise.own_turn(lambda: torch.rand(3)))
        states.append(torch.get_rng_state())
    torch.manual_seed(0)
    torch.testing.assert_close(torch.cat(found), torch.rand(6))
    assert torch.equal(*states)
