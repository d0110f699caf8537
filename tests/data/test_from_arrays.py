"""A data set from the user's own arrays."""

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError

X = np.zeros((4, 3), dtype=np.float32)


def test_items_factors_splits_and_ids():
    data = from_arrays(
        X,
        {"digit": [0, 1, -1, 2]},
        splits={"train": [0, 1], "test": [False, False, True, True]},
        ids=[9, 7, 5, 3],
    )
    assert len(data) == 4
    assert data.split("test").ids.tolist() == [5, 3]
    assert data.factors["digit"].known.tolist() == [True, True, False, True]


def test_grey_images_get_their_channel():
    assert from_arrays(np.zeros((4, 8, 8), dtype=np.uint8)).x.shape == (4, 1, 8, 8)
    assert from_arrays(torch.zeros(4, 3, 8, 8, dtype=torch.uint8)).x.shape == (4, 3, 8, 8)
    assert from_arrays(np.zeros((4, 2), dtype=np.float64)).x.dtype == torch.float32
    assert from_arrays([[1, 2], [3, 4]]).x.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (np.zeros(4), {}, "one row per item"),
        (np.zeros((4, 8, 8, 3), dtype=np.uint8), {}, "move the colours to axis 1"),
        (np.array([[0.0, 1.0], [np.nan, 1.0]]), {}, "NaN or infinity in row 1"),
        (X, {"splits": {"train": [0, 4]}}, "split 'train': expected rows from 0 to 3"),
        (X, {"splits": {"train": [True]}}, "a mask of 4 entries"),
        (X, {"ids": [1, 1, 2, 3]}, "share an id"),
        (X, {"kinds": {"digit": "count"}}, "kinds speaks of 'digit'"),
        (X, {"classes": {"digit": "ab"}}, "classes speaks of 'digit'"),
    ],
)
def test_what_does_not_fit_is_refused(x, options, message):
    with pytest.raises(DataError, match=message):
        from_arrays(x, **options)
