"""Tags follow data through every operation, element by element."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.graph.graph_programs import B, network, read
from unknot.core.tags import NONE, ElementTags, Tags

# ---- Tags by element, against dictionaries of elements.


def key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def test_slices_keep_their_own() -> None:
    patches, whole = ElementTags(), torch.zeros(4, 6)
    patches.set_all(key(whole), NONE)
    one, two = np.asarray(patches.number(frozenset({1}))), np.asarray(patches.number(frozenset({2})))
    patches.set_elements(key(whole), whole[:, :2], one)
    patches.set_elements(key(whole), whole[1], two)
    for row in range(4):
        for column in range(6):
            expected = {2} if row == 1 else ({1} if column < 2 else set())
            assert patches.of(key(whole), whole[row, column]) == expected
    assert patches.of(key(whole), whole.T[3:]) == {2}
    assert patches.of(key(whole), whole) == {1, 2}
    assert patches.elements(key(whole), whole[:, ::5]).shape == (4, 2)


def test_a_storage_written_all_over_is_uniform_again() -> None:
    patches, whole = ElementTags(), torch.zeros(3)
    number = np.asarray(patches.number(frozenset({5})))
    patches.set_elements(key(whole), whole[:1], number)
    assert not patches.is_uniform(key(whole))
    patches.set_elements(key(whole), whole[1:], number)
    assert patches.is_uniform(key(whole))


def test_other_element_sizes_see_everything() -> None:
    patches, whole = ElementTags(), torch.zeros(4)
    patches.set_elements(key(whole), whole[:1], np.asarray(patches.number(frozenset({1}))))
    halves = whole.view(torch.int16)
    assert patches.of(key(whole), halves[6:]) == {1}
    assert patches.elements(key(whole), halves[6:]).shape == (2,)
    patches.set_elements(key(whole), halves[6:], np.asarray(patches.number(frozenset({2}))))
    assert patches.of(key(whole), whole[3:]) == {1, 2}


def test_union_element_by_element() -> None:
    patches = ElementTags()
    a, b = patches.number(frozenset({1})), patches.number(frozenset({2}))
    joined = patches.union([np.array([[0], [a]]), np.array([0, b])], (2, 2))
    sets = [[NONE, {2}], [{1}, {1, 2}]]
    for row in range(2):
        for column in range(2):
            assert joined[row, column] == patches.number(frozenset(sets[row][column]))


# ---- Tags follow data through every operation, with gradient or without.


def test_what_carries_no_gradient_still_counts() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        with torch.no_grad():
            y = q.normal(network(2, x), 1.0, name="y")
        q.normal(y.detach(), 1.0, name="z")
        q.normal((y > 0).float(), 1.0, name="w")
        return q

    assert read(encoder) == {"x -> y", "y -> z", "y -> w"}


def test_writes_in_place_and_views() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.normal(network(2, x), 1.0, name="y")
        h = torch.zeros(B, 2)
        h.add_(y)
        q.normal(h, 1.0, name="added")
        row = torch.zeros(B, 2)
        row[:, 0].copy_(y[:, 1])  # writes through a view
        q.normal(row, 1.0, name="sliced")
        h.zero_()
        q.normal(h, 1.0, name="erased")
        first, _ = y.t().contiguous().view(-1).split(B)
        q.normal(first, 1.0, name="split", event_dims=0)
        return q

    assert read(encoder) == {"x -> y", "y -> added", "y -> sliced", "y -> split"}


def test_modules_with_memory_do_not_link_turns() -> None:
    normed = nn.BatchNorm1d(2)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        for k in range(2):
            with q.scope("part", k):
                y = q.normal(network(2, x), 1.0, name="y")
                q.normal(normed(y), 1.0, name="z")
        return q

    assert read(encoder) == {"x -> part[k].y", "part[k].y -> part[k].z"}


@pytest.mark.parametrize("cell", [nn.GRU, nn.LSTM, nn.RNN])
def test_recurrent_networks(cell: type[nn.RNNBase]) -> None:
    network_ = cell(2, 4, batch_first=True)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.normal(network(2, x), 1.0, name="y")
        states, _ = network_(y[:, None].expand(B, 3, 2))
        q.normal(states[:, -1], 1.0, name="z")
        return q

    assert read(encoder) == {"x -> y", "y -> z"}


def test_views_and_aliases_share_their_tags_and_fresh_copies_do_not() -> None:
    tags = Tags()
    with tags:
        y = tags.fresh(torch.ones(4), 1)
        z = tags.fresh(torch.ones(4), 2)
        both = y.view(2, 2) + z.detach().reshape(2, 2)
        alone = tags.fresh(both, None)
    assert tags.of(both) == {1, 2}
    assert tags.of([y, {"z": z}]) == {1, 2}
    assert tags.of(torch.zeros_like(y), alone) == frozenset()


def test_tensors_from_before_are_put_back() -> None:
    before = torch.zeros(3)
    tags = Tags()
    with tags:
        before.add_(1.0)
    assert before.tolist() == [1.0, 1.0, 1.0]
    tags.restore()
    assert before.tolist() == [0.0, 0.0, 0.0]


def test_what_was_joined_comes_apart() -> None:
    tags = Tags()
    with tags:
        a, b = tags.fresh(torch.ones(3, 2), 1), tags.fresh(torch.ones(3, 4), 2)
        first, second = torch.relu(torch.cat([a, b], -1) * 2 + 1).clone().split([2, 4], -1)
        mixed = torch.cat([a, b], -1)[:, 1:3]
        rows = torch.stack([a, a * b[:, :2]]).unbind(0)
        summed = torch.cat([a, b], -1) @ torch.ones(6, 2)
    assert tags.of(first) == {1}
    assert tags.of(second) == {2}
    assert tags.of(mixed) == tags.of(rows[1]) == tags.of(summed) == {1, 2}
    assert tags.of(rows[0]) == {1}


def test_slices_of_one_buffer() -> None:
    tags = Tags()
    with tags:
        buffer = torch.zeros(3, 4)
        buffer[:, 0] = tags.fresh(torch.ones(3), 1)
        buffer[:, 1:3] += tags.fresh(torch.ones(3, 2), 2)
        again = buffer.clone()
        again[:, 0] = 0.0  # forgotten
    assert tags.of(buffer[:, 0]) == {1}
    assert tags.of(buffer[:, 1:3]) == {2}
    assert tags.of(buffer[:, 3]) == frozenset()
    assert tags.of(buffer) == {1, 2}
    assert tags.of(again) == {2}
