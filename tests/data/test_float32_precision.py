"""Arrays in the types that models compute with, and numbers that float32 cannot distinguish."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unknot.data.float32_precision import loses_precision, numpy_of, plain_array
from unknot.data.from_arrays import from_arrays
from unknot.data.label_column import read_factor
from unknot.data.readers.user_files import read_user_data
from unknot.errors import DataError, UnknotWarning

NEAR = 1e12 + np.arange(30.0)


def test_gaps_and_constants_lose_nothing() -> None:
    assert (
        loses_precision(
            np.array([[np.nan, 1.0, 1e12], [np.nan, np.nan, np.nan], [np.nan, 2.0, 1e12]])
        ).tolist()
        == [False] * 3
    )
    assert bool(loses_precision(NEAR))


def test_it_is_said_of_arrays_tables_and_labels(tmp_path: Path) -> None:
    with pytest.warns(UnknotWarning, match="column 1: its numbers differ only beyond the fifth digit"):
        from_arrays(np.stack([np.arange(30.0), NEAR], 1))
    with pytest.warns(UnknotWarning, match="factor 'time': its numbers differ"):
        read_factor("time", NEAR, 30)
    for count in (30, 1500):  # words, and numbers at once
        rows = "\n".join(f"{i % 7}.5,{10**12 + i}" for i in range(count))
        (tmp_path / "t.csv").write_text(f"a,time\n{rows}\n")
        with pytest.warns(UnknotWarning, match="column 'time': its numbers differ"):
            read_user_data(tmp_path / "t.csv")


def test_years_and_seconds_are_not_mentioned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_arrays(np.stack([np.arange(1990.0, 2020.0), 1.7e9 + 86400 * np.arange(30.0)], 1))


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
