"""Plug-in information: against dictionaries of counts, and its laws."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics.parts.columns import read_pair
from unknot.metrics.parts.information import counts, entropy, gap, information, shared
from unknot.metrics.protocols import Histogram


def test_against_the_slow_twin() -> None:
    read = read_pair(cases.NOISY, cases.FACTORS, None, None)
    found = information(*read, Histogram(bins=7))
    assert found.mutual == pytest.approx(np.array(cases.slow_matrix(cases.NOISY, cases.FACTORS, 7)))
    for k in range(3):
        assert found.of_factors[k] == pytest.approx(cases.slow_entropy(cases.FACTORS[:, k].tolist()))
    pairs = list(zip(cases.slow_bin(cases.NOISY[:, 1], 7), cases.FACTORS[:, 2].tolist(), strict=True))
    assert found.joint[1, 2] == pytest.approx(cases.slow_entropy(pairs))


def test_laws() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.integers(0, 9, (4, 5)) + np.eye(4, 5, dtype=int)
        both = shared(table)
        assert 0 <= both <= min(entropy(table.sum(0)), entropy(table.sum(1))) + 1e-12
        assert both == pytest.approx(shared(table.T))
    assert shared(np.outer([1, 2, 3], [4, 5])) == 0  # independent: exactly nothing
    assert shared(np.diag([1, 2, 3])) == pytest.approx(entropy(np.array([1, 2, 3])))


def test_probabilities_that_are_sure_are_counts() -> None:
    code, factor = cases.FACTORS[:, 2], cases.FACTORS[:, 1]
    assert (counts(code, 5, factor, 3) == counts(code, 5, factor, 3, np.eye(5)[code])).all()


def test_gap() -> None:
    assert gap(np.array([[0.1, 0.5], [0.7, 0.5], [0.4, 0.2]])) == pytest.approx([0.3, 0.0])
    assert gap(np.array([[0.4]])) == pytest.approx([0.4])
