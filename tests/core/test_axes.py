"""Axes: joining, summing and recognizing them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Size
from torch.distributions import Normal

import unknot
from unknot import Trace
from unknot.core.axes import Layout, cat, per_item, readings, sum_event
from unknot.errors import TraceError

sizes = st.sampled_from([1, 2, 3])


@given(sizes, sizes, st.integers(0, 2), st.integers(0, 2), sizes, sizes)
def test_cat_is_torch_cat_after_broadcasting(samples, batch, first, second, one, other) -> None:
    leading = (samples, batch)
    a = torch.randn(*leading[2 - first :], one)
    b = torch.randn(*leading[2 - second :], other)
    common = leading[2 - max(first, second) :]
    expected = torch.cat([a.expand(*common, one), b.expand(*common, other)], -1)
    assert torch.equal(cat([a, b], -1), expected)
    assert torch.equal(cat([a, b]), expected)


def test_cat_along_another_axis() -> None:
    a, b = torch.randn(5, 2, 3), torch.randn(4, 3)
    assert torch.equal(cat([a, b], dim=-2), torch.cat([a, b.expand(5, 4, 3)], -2))


def test_cat_counts_from_the_right() -> None:
    with pytest.raises(ValueError, match="use a negative dim, not 1"):
        cat([torch.zeros(2, 3)], 1)


@pytest.mark.parametrize("event_dims", [0, 1, 2])
def test_sum_event(event_dims: int) -> None:
    values = torch.randn(2, 3, 4)
    expected = values.sum(tuple(range(-event_dims, 0))) if event_dims else values
    torch.testing.assert_close(sum_event(values, event_dims), expected)


@pytest.mark.parametrize(
    ("shape", "leading", "expected"),
    [
        ((7, 5), (7,), [1]),
        ((5,), (7,), []),  # one vector for all items
        ((), (7,), []),
        ((1, 5), (7,), [1]),  # size one stands for the batch
        ((3, 7, 5), (3, 7), [2]),
        ((7, 5), (3, 7), [1]),
        ((3, 1, 5), (3, 7), [2]),
        ((4, 3, 7, 5), (4, 3, 7), [3]),
        ((4, 1, 7, 5), (4, 1, 7), [3]),
        ((5, 6), (7,), []),
        ((1, 7, 5), (1, 7), [2]),  # one sample of the batch
        ((1, 7), (1, 7), [1, 2]),  # a vector that all items share, or one sample of a number per item
        ((3, 3, 5), (3, 3), [1, 2]),  # as many samples as items
        ((10, 1, 10, 5), (10, 5, 10), [1, 3]),  # as many classes as items
        ((4, 1, 1, 5), (4, 4, 1), [2, 3]),  # as many classes as samples, of one item
    ],
)
def test_readings(shape, leading, expected: list[int]) -> None:
    assert readings(Size(shape), Size(leading)) == expected


@pytest.mark.parametrize(
    ("shape", "leading", "shared", "is_open", "expected"),
    [
        ((3, 1, 1), (2, 3, 1, 3), True, False, [1, 3]),  # of an enumerated value that all items share
        ((3, 1, 1), (2, 3, 1, 3), False, False, [1]),
        ((1, 7, 5), (3, 7), False, False, [1, 2]),  # a matrix that all items share, or one of three samples
        ((1, 2), (1, 1), False, True, [1, 2]),  # no item seen yet
        ((2,), (1, 1), False, True, [1]),
        ((5, 1, 3), (5, 1), False, True, [1, 2]),
    ],
)
def test_readings_beside_values_that_items_share(shape, leading, shared, is_open, expected) -> None:
    assert readings(Size(shape), Size(leading), shared=shared, is_open=is_open) == expected


def test_a_batch_after_sites_that_all_items_share_is_refused_where_it_could_be_a_vector() -> None:
    q = Trace(samples=1)
    shared = q.normal(0.0, 1.0, name="shared")  # (1, 1)
    with pytest.raises(TraceError, match=r"site 'z'.*event_dims=1.*event_dims=0"):
        q.normal(shared + torch.zeros(3), 1.0, name="z")
    assert q.normal(shared + torch.zeros(3), 1.0, name="z", event_dims=0).shape == (1, 3)


def test_a_constant_with_an_axis_of_size_one_may_be_a_matrix() -> None:
    q = Trace()
    q.normal(torch.zeros(2), 1.0, name="a")
    with pytest.raises(TraceError, match=r"site 'b'.*event_dims=2 .*event_dims=1"):
        q.normal(torch.zeros(1, 3), 1.0, name="b")
    assert q.normal(torch.zeros(1, 3), 1.0, name="b", event_dims=1).shape == (2, 3)
    assert q.normal(torch.zeros(1, 3), 1.0, name="c", event_dims=2).shape == (2, 1, 3)


def test_a_prior_for_one_item_has_a_batch() -> None:
    p, latent = Trace(), unknot.given(1)
    z = p.normal(torch.zeros(3), 1.0, value=latent["z"], name="z")
    assert p.normal(z, 1.0, value=latent["w"], name="w").shape == (1, 3)


def test_before_anything_is_known_the_first_axis_is_the_batch() -> None:
    assert Layout(None).event_axes("z", Normal(torch.zeros(7, 5), 1.0), None) == 1


def test_what_the_program_is_known_to_do_settles_it() -> None:
    layout = Layout(3, {"z": 1})
    layout.base = Size((3, 3))
    assert layout.event_axes("z", Normal(torch.zeros(3, 3), 1.0), None) == 1
    assert layout.event_axes("z", Normal(torch.zeros(3, 3), 1.0), 0) == 0  # said at the site
    with pytest.raises(TraceError, match=r"site 'w'.*several ways.*event_dims=1.*event_dims=0"):
        layout.event_axes("w", Normal(torch.zeros(3, 3), 1.0), None)


def test_slots_are_used_again_once_they_are_released() -> None:
    layout = Layout(None)
    first, second = layout.allocate("a", 3, 1), layout.allocate("b", 2, 1)
    assert (first.slot, second.slot) == (0, 1)
    assert layout.shape == (2, 3, 1)
    layout.release({0})
    assert layout.allocate("c", 5, 1).slot == 0
    assert layout.shape == (2, 5, 1)


def test_per_item_selects_whole_items() -> None:
    mask = torch.tensor([True, False])
    assert per_item(mask, 2).shape == (2, 1, 1)
