"""Axes: joining, summing and recognising them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Size

from unknot.core.axes import cat, infer_leading, per_item, sum_event

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
        ((), (), 0),
        ((7,), (), 1),  # nothing known yet: the first axis is the batch
        ((7, 5), (), 1),
        ((7, 5), (7,), 1),
        ((5,), (7,), 0),  # one vector for all items
        ((), (7,), 0),
        ((1, 5), (7,), 1),  # size one stands for the batch
        ((3, 7, 5), (3, 7), 2),
        ((7, 5), (3, 7), 1),
        ((3, 1, 5), (3, 7), 2),
        ((4, 3, 7, 5), (4, 3, 7), 3),
        ((4, 1, 7, 5), (4, 1, 7), 3),
        ((5, 6), (7,), 0),
    ],
)
def test_infer_leading(shape, leading, expected: int) -> None:
    assert infer_leading(Size(shape), Size(leading)) == expected


def test_per_item_selects_whole_items() -> None:
    mask = torch.tensor([True, False])
    assert per_item(mask, 2).shape == (2, 1, 1)
