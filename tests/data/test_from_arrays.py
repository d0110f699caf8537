"""A data set from the user's own arrays."""

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError, UnknotWarning

X = np.zeros((4, 3), dtype=np.float32)


def test_items_factors_splits_and_ids():
    data = from_arrays(
        X,
        {"digit": [0, 1, -1, 1]},
        splits={"train": [0, 1], "test": [False, False, True, True]},
        ids=[9, 7, 5, 3],
    )
    assert len(data) == 4
    assert data.split("test").ids.tolist() == [5, 3]
    assert data.factors["digit"].known.tolist() == [True, True, False, True]


def test_wide_and_nearly_empty_whole_numbers_are_counts_of_words():
    counts = np.random.default_rng(0).poisson(0.05, (30, 300))
    data = from_arrays(counts)
    assert isinstance(data.x, SparseCounts)
    np.testing.assert_array_equal(data.x[:].numpy(), counts)


@pytest.mark.parametrize(
    "other",
    [
        np.random.default_rng(0).poisson(0.5, (30, 300)),  # too full
        np.random.default_rng(0).poisson(0.05, (30, 50)),  # too narrow
        np.random.default_rng(0).poisson(0.05, (30, 300)).astype(np.uint8),  # pixels
        np.random.default_rng(0).poisson(0.05, (30, 300)).astype(np.float32),
        -np.random.default_rng(0).poisson(0.05, (30, 300)),
    ],
)
def test_other_rows_stay_dense(other: np.ndarray):
    assert isinstance(from_arrays(other).x, torch.Tensor)


def test_rows_kept_for_the_test_do_not_decide_which_classes_there_are():
    splits = {"train": [0, 1], "test": [2, 3]}
    for labels, unseen in (([3, 1, 1, 7], "7"), (["c", "a", "a", "b"], "b")):
        with pytest.warns(UnknotWarning, match=rf"1 of 2 labels .* no training item has \({unseen}\)"):
            data = from_arrays(X, {"y": labels}, splits=splits)
        assert data.factors["y"].values.tolist() == [1, 0, 0, -1]
        declared = from_arrays(X, {"y": labels}, classes={"y": sorted(set(labels))}, splits=splits)
        assert declared.factors["y"].known.all()


def test_grey_images_get_their_channel():
    assert from_arrays(np.zeros((4, 8, 8), dtype=np.uint8)).x.shape == (4, 1, 8, 8)
    assert from_arrays(torch.zeros(4, 3, 8, 8, dtype=torch.uint8)).x.shape == (4, 3, 8, 8)
    assert from_arrays(np.zeros((4, 2), dtype=np.float64)).x.dtype == torch.float32
    assert from_arrays([[1, 2], [3, 4]]).x.tolist() == [[1, 2], [3, 4]]


def test_whole_numbers_below_zero_are_numbers_and_no_counts():
    made = from_arrays([[1, -2], [3, 4]]).x
    assert (made.dtype, made.tolist()) == (torch.float32, [[1, -2], [3, 4]])


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (np.zeros(4), {}, "one row per item"),
        (np.zeros((4, 8, 8, 3), dtype=np.uint8), {}, "move the colors to axis 1"),
        (np.array([[0.0, 1.0], [np.nan, 1.0]]), {}, "NaN or infinity in row 1"),
        (np.array([[0.0, np.inf]]), {"missing": True}, "infinity, or a number beyond 3e38, in row 0"),
        (np.zeros((4, 8, 8), dtype=int), {}, "whole numbers of type int64 in items of shape"),
        (X, {"splits": {"train": [0, 4]}}, "split 'train': expected rows from 0 to 3"),
        (X, {"splits": {"train": [True]}}, "a mask of 4 entries"),
        (X, {"ids": [1, 1, 2, 3]}, "share an id"),
        (X, {"kinds": {"digit": "count"}}, "kinds names 'digit'"),
        (X, {"classes": {"digit": "ab"}}, "classes names 'digit'"),
    ],
)
def test_what_does_not_fit_is_refused(x, options, message):
    with pytest.raises(DataError, match=message):
        from_arrays(x, **options)
