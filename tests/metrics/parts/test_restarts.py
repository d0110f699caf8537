"""Restarts: the same rows of each."""

import numpy as np

from unknot.metrics.restarts import RestartScores, read_restarts


def test_the_same_rows_of_each() -> None:
    codes = np.arange(50.0)
    first, second = read_restarts([codes, 2 * codes], None, 10, 0)
    assert len(first) == 10
    assert (second.values == 2 * first.values).all()
    assert len(read_restarts([codes, codes], None, None, 0)[0]) == 50


def test_repr_names_the_best() -> None:
    found = RestartScores(
        value=0.7, scores=np.array([0.5, 0.7]), best=1, pairs=np.zeros((2, 2)), score="udr", protocol="p"
    )
    assert repr(found) == "udr: restart 1 of [0.500, 0.700] (p)"
    assert found.numbers == {"value": 0.7}
