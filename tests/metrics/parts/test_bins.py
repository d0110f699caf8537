"""Bins: equal width against arithmetic, equal mass against ranks."""

import numpy as np

from tests.metrics.cases import slow_bin
from unknot.metrics.parts.columns import read_columns
from unknot.metrics.parts.information import categories, equal_mass, equal_width

VALUES = np.random.default_rng(0).normal(size=1000)


def test_equal_width() -> None:
    assert equal_width(VALUES, 20).tolist() == slow_bin(VALUES, 20)
    assert set(equal_width(np.full(5, 3.0), 20).tolist()) <= set(range(20))  # a constant has one bin
    assert len(set(equal_width(np.full(5, 3.0), 20).tolist())) == 1


def test_equal_mass() -> None:
    assert np.bincount(equal_mass(VALUES, 10)).tolist() == [100] * 10
    assert (equal_mass(VALUES, 10) == VALUES.argsort().argsort() // 100).all()
    assert len(set(equal_mass(np.full(5, 3.0), 10).tolist())) == 1


def test_ties_stay_together() -> None:
    values = np.array([0.0] * 50 + [1.0] * 3 + [2.0] * 47)
    cut = equal_mass(values, 10)
    assert len({*cut[:50]}) == len({*cut[50:53]}) == 1


def test_categories_stay_as_they_are() -> None:
    read = read_columns({"c": [2, 0, 2, 1, 1, 0], "z": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}, None, "codes")
    index, sizes = categories(read, 2)
    assert index[:, 0].tolist() == [2, 0, 2, 1, 1, 0]
    assert index[:, 1].tolist() == [0, 0, 0, 1, 1, 1]
    assert sizes.tolist() == [3, 2]
