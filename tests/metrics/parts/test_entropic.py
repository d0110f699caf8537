"""D and C of a matrix: exact cases, a slow twin, invariances."""

from math import log

import numpy as np
import pytest

from unknot.metrics.importance import concentration, entropic


def test_exact_cases() -> None:
    one_to_one = entropic(np.eye(3))
    assert (one_to_one.disentanglement, one_to_one.completeness) == pytest.approx((1, 1))
    flat = entropic(np.ones((4, 3)))
    assert (flat.disentanglement, flat.completeness) == pytest.approx((0, 0))
    nothing = entropic(np.zeros((4, 3)))
    assert (nothing.disentanglement, nothing.completeness) == (0, 0)
    assert entropic(np.array([[2.0]])).disentanglement == 1


def test_against_the_slow_twin() -> None:
    matrix = np.random.default_rng(0).random((5, 3))
    matrix[1] = 0  # a dead code takes nothing from the others
    d = c = 0.0
    for row in matrix:
        weight = row.sum() / matrix.sum()
        if weight:
            d += weight * (1 + sum(x / row.sum() * log(x / row.sum(), 3) for x in row))
    for column in matrix.T:
        parts = [x / column.sum() for x in column if x]
        c += column.sum() / matrix.sum() * (1 + sum(p * log(p, 5) for p in parts))
    found = entropic(matrix)
    assert (found.disentanglement, found.completeness) == pytest.approx((d, c))


def test_order_and_scale_do_not_matter() -> None:
    matrix = np.random.default_rng(1).random((5, 3))
    first, other = entropic(matrix), entropic(7 * matrix[[3, 0, 4, 1, 2]][:, [2, 0, 1]])
    assert first.disentanglement == pytest.approx(other.disentanglement)
    assert first.completeness == pytest.approx(other.completeness)
    assert concentration(matrix[:, :1]).tolist() == [1] * 5
