"""Modularity: known answers, dead codes, a slow twin."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import modularity


def test_known_answers() -> None:
    for codes in (cases.PERFECT, cases.DUPLICATED, cases.PERFECT[:, :1]):  # it sees neither copies nor gaps
        assert modularity(codes, cases.FACTORS).value == pytest.approx(1)
    assert modularity(np.zeros(900), cases.FACTORS).value == 0


def test_two_equal_factors_in_one_code_are_the_worst() -> None:
    factors = cases.grid(3, 3, repeats=50)
    assert modularity(factors[:, 0] + 3.0 * factors[:, 1], factors).value == pytest.approx(0)


def test_a_dead_code_counts_nothing() -> None:
    codes = np.concatenate([cases.PERFECT, np.zeros((900, 1))], 1)
    assert modularity(codes, cases.FACTORS).value == pytest.approx(3 / 4)


def test_against_the_slow_twin() -> None:
    parts = []
    for row in cases.slow_matrix(cases.ROTATED, cases.FACTORS, 20):
        best = max(row)
        rest = sum(value**2 for value in row) - best**2
        parts.append(1 - rest / (best**2 * 2))
    assert modularity(cases.ROTATED, cases.FACTORS).value == pytest.approx(sum(parts) / 3)
