"""Arrays of every kind come with the values they have, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from unknot.data.plain_array import numpy_of, plain_array
from unknot.errors import DataError


@pytest.mark.parametrize(
    "dtype",
    [
        "<f4",
        ">f4",
        "<f8",
        ">f8",
        "f2",
        np.longdouble,
        "<i2",
        ">i2",
        "i1",
        ">i8",
        "u1",
        ">u2",
        "u4",
        "u8",
        "?",
    ],
)
def test_torch_takes_the_same_values(dtype: Any) -> None:
    given = np.array([[0, 1], [1, 0]], dtype=dtype)[:, ::-1]
    made = torch.as_tensor(plain_array(given, "data"))
    assert made.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([[2**63]], dtype=np.uint64), "too large for a whole number"),
        (np.array([[0.0], [1e300]]), "row 1: x holds a number beyond"),
        (np.array([["a"]]), "holds <U1 values"),
        (np.array([[1j]]), "holds complex128 values"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "expected numbers"),
        ([[1], [1, 2]], "does not form an array"),
    ],
)
def test_what_would_change_is_refused(given: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        plain_array(given, "data")


def test_gaps_stay() -> None:
    made = plain_array(np.array([[np.nan, np.inf]]), "data")
    assert np.isnan(made[0, 0])
    assert made.dtype == np.float32


def test_tensors_that_numpy_has_not() -> None:
    x = torch.tensor([[0.5, 0.0], [0.0, -2.0]])
    for given in (x, x.bfloat16(), x.to_sparse(), x.clone().requires_grad_()):
        assert numpy_of(given).tolist() == x.tolist()
