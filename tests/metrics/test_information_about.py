"""Information by code: exact for categories, E19's rule for probabilities and for bins of equal mass."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.errors import DataError
from unknot.metrics import Probabilities, information_about


def test_exact_for_categories() -> None:
    found = information_about(cases.FACTORS, cases.FACTORS[:, 2])
    assert found.by_code == pytest.approx({"code[0]": 0, "code[1]": 0, "code[2]": np.log(5)}, abs=1e-9)
    assert found.value == pytest.approx(np.log(5))


def test_probabilities_are_averaged_over_each_class() -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    q = np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8]])
    given = np.array([[0.8, 0.2], [0.2, 0.8]])  # q(c|y), by hand
    expected = sum(
        0.5 * given[k, c] * np.log(given[k, c] / given.mean(0)[c]) for k in range(2) for c in range(2)
    )
    found = information_about({"c": Probabilities(q)}, y)
    assert found.value == pytest.approx(expected)
    assert information_about({"c": Probabilities(np.eye(2)[y])}, y).value == pytest.approx(np.log(2))


def test_ten_bins_of_equal_mass() -> None:
    z = np.exp(np.random.default_rng(0).normal(size=2000) * 3)  # bins of equal width would see nothing
    decile = np.argsort(np.argsort(z)) // 200
    assert information_about(z, decile).value == pytest.approx(np.log(10))


def test_probabilities_must_be_such() -> None:
    with pytest.raises(DataError, match="add up to 1"):
        Probabilities([[0.5, 0.6]])
