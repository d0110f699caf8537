"""The one "is it missing"."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.missing import is_missing, missing_entries


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), np.datetime64("NaT")])
def test_what_is_missing(value: object) -> None:
    assert is_missing(value)


def test_pandas_own_kinds_of_missing() -> None:
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA)
    assert is_missing(pandas.NaT)


@pytest.mark.parametrize("value", [0, "", "nan", False, np.bool_(False), [], np.array([np.nan]), {}, b""])
def test_what_is_there(value: object) -> None:
    assert not is_missing(value)


def test_entries_keep_their_shape() -> None:
    values = np.array([["a", None], [np.nan, 1]], dtype=object)
    assert missing_entries(values).tolist() == [[False, True], [True, False]]
    assert missing_entries(values[:0]).shape == (0, 2)
