"""What is asked of a file, shares for testing, and which data stay in a file."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.data.readers.read_options import LARGE, ReadOptions, share_for_testing
from unknot.errors import DataError


def test_nothing_is_asked_by_default() -> None:
    options = ReadOptions()
    assert options.factors is None
    assert options.kinds_of(["digit"]) == options.classes_of(["digit"]) == {}
    assert options.split(10) == {}


def test_kinds_and_classes_are_those_of_labels_that_are_there() -> None:
    options = ReadOptions(
        kinds={"digit": "categorical", "light": "continuous"}, classes={"digit": [0, 1], "mood": []}
    )
    assert options.kinds_of(["light", "size"]) == {"light": "continuous"}
    assert options.classes_of({"digit": [1]}) == {"digit": [0, 1]}


def test_labels_that_look_like_data_are_named_or_known() -> None:
    assert ReadOptions().named_factors == ()
    assert ReadOptions(factors=["digit"]).named_factors == ["digit"]
    assert ReadOptions(like=from_arrays(np.zeros((2, 3)))).named_factors is None


def test_size_decides_unless_asked() -> None:
    assert not ReadOptions().should_memmap(LARGE)
    assert ReadOptions().should_memmap(LARGE + 1)
    assert ReadOptions(mapped=True).should_memmap(1)
    assert not ReadOptions(mapped=False).should_memmap(LARGE + 1)


def test_every_row_is_in_one_part() -> None:
    parts = share_for_testing(0.25, 3)(20)
    assert torch.cat([parts["train"], parts["test"]]).sort().values.tolist() == list(range(20))
    assert len(parts["test"]) == 5
    assert share_for_testing(0.25, 3)(20)["test"].tolist() == parts["test"].tolist()
    assert share_for_testing(0.0, 3)(20) == {}
    with pytest.raises(DataError, match="leaves none"):
        share_for_testing(0.9, 0)(1)
