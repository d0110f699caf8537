"""Combinations of factors held out, against a loop over items that reads the conditions one by one."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unknot.data import Dataset, Factor, from_arrays, hold_out
from unknot.errors import DataError


def items(count: int = 60, seed: int = 0) -> Dataset:
    made = torch.Generator().manual_seed(seed)
    shape = torch.randint(3, (count,), generator=made)
    width = torch.randint(5, (count,), generator=made).float()
    many = torch.randint(4, (count,), generator=made)
    factors = {
        "shape": Factor("shape", "categorical", shape, ("square", "ellipse", "heart")),
        "width": Factor("width", "continuous", width),
        "many": Factor("many", "count", many),
    }
    return Dataset("toys", torch.rand(count, 2, generator=made), torch.arange(100, 100 + count), factors)


@given(st.sets(st.integers(0, 2), min_size=1, max_size=2), st.integers(0, 3), st.integers(0, 2))
def test_what_is_held_out_is_what_a_loop_over_items_finds(shapes, low, seed):
    data = items(seed=seed)
    seen, unseen = hold_out(data, {"shape": sorted(shapes), "width": (low, None)}, {"many": 3})
    shape, width, many = (data.factors[name].values.tolist() for name in ("shape", "width", "many"))
    slow = [100 + i for i in range(len(data)) if (shape[i] in shapes and width[i] >= low) or many[i] == 3]
    assert unseen.ids.tolist() == slow
    assert sorted(seen.ids.tolist() + unseen.ids.tolist()) == data.ids.tolist()


def test_a_class_goes_by_name_or_number_and_a_range_holds_its_ends():
    data = items()
    by_name, by_number = (hold_out(data, {"shape": one})[1] for one in ("heart", 2))
    assert by_name.ids.tolist() == by_number.ids.tolist()
    _, narrow = hold_out(data, {"width": (1, 2)})
    assert set(narrow.factors["width"].values.tolist()) == {1.0, 2.0}
    assert narrow.name == "toys/unseen"


@pytest.mark.parametrize(
    ("combination", "says"),
    [
        ({"shape": "hart"}, "did you mean 'heart'"),
        ({"shape": 3}, "a class from 0 to 2"),
        ({"many": -1}, "a whole number"),
        ({"width": 2.0}, "takes a range"),
        ({"color": 1}, "has no factor 'color'"),
        ({"width": (50, None)}, "no item"),
        ({"width": (None, None)}, "every item"),
        ({}, "without a condition"),
    ],
)
def test_what_cannot_be_meant_is_refused(combination, says):
    with pytest.raises(DataError, match=says):
        hold_out(items(), combination)


def test_nothing_to_hold_out_is_refused():
    with pytest.raises(DataError, match="say which combinations"):
        hold_out(items())


def test_an_item_that_does_not_show_its_factor_is_refused():
    data = from_arrays([[0.0], [1.0], [2.0]], {"width": [1.0, math.nan, 3.0]})
    with pytest.raises(DataError, match="1 items of data have no label of 'width'"):
        hold_out(data, {"width": (2, None)})
    assert len(hold_out(data.labeled("width"), {"width": (2, None)})[1]) == 1


def test_several_numbers_an_item_have_no_range():
    data = from_arrays([[0.0], [1.0]], {"place": [[0.0, 1.0], [1.0, 2.0]]})
    with pytest.raises(DataError, match="several numbers"):
        hold_out(data, {"place": (0, 1)})
