"""Tables as numbers: what a column holds by its values alone."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tables.own_data_sets import Source, design, kind_of, read, skewed

pd = pytest.importorskip("pandas")


def test_kinds_by_values() -> None:
    assert kind_of(pd.Series(["a", "b", "a"])) == "binary"
    assert kind_of(pd.Series(["a", "b", "c", None])) == "category"
    assert kind_of(pd.Series([0.5, 1.5, 2.5, None])) == "number"
    assert kind_of(pd.Series([True, False, True])) == "binary"
    assert kind_of(pd.Series([1.0, 1.0, None])) is None  # constant
    assert kind_of(pd.Series(range(50))) is None  # numbers the rows
    assert kind_of(pd.Series([f"name {i}" for i in range(30)])) is None  # free text


def test_holes_stay_holes() -> None:
    data = pd.DataFrame({"a": ["x", "y", "z", None], "b": [0.5, None, 2.5, 2.5], "c": ["n", "y", None, "y"]})
    x = design(data)
    assert x.shape == (4, 5)
    assert np.isnan(x[3, :3]).all()
    np.testing.assert_array_equal(x[:3, :3], np.eye(3))
    np.testing.assert_array_equal(x[:, 4], [0, 1, np.nan, 1])


def test_skewed_numbers_are_taken_by_their_logarithm() -> None:
    prices = np.exp(np.linspace(0, 10, 100))
    np.testing.assert_allclose(skewed(prices), np.log(prices))
    np.testing.assert_array_equal(skewed(np.arange(10.0)), np.arange(10.0))


def test_scikit_learns_own_tables() -> None:
    wine = read(Source("sklearn", "wine", "target"))
    assert (wine.x.shape, wine.classes) == ((178, 13), 3)
    assert read(Source("sklearn", "diabetes", "target", numbers=True)).classes == 0
