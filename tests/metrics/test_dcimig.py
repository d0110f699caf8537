"""DCIMIG: known answers and a slow twin."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import dcimig


def test_known_answers() -> None:
    for codes in (cases.PERFECT, cases.PERFECT[:, ::-1], cases.DUPLICATED):
        assert dcimig(codes, cases.FACTORS).value == pytest.approx(1)
    assert dcimig(cases.USELESS, cases.USELESS_FACTORS).value == pytest.approx(0)
    missing = dcimig(cases.PERFECT[:, :2], cases.FACTORS).value  # nobody knows the third
    assert missing == pytest.approx(np.log(6) / np.log(30))


def test_against_the_slow_twin() -> None:
    codes, factors = cases.ROTATED, cases.FACTORS
    best = dict.fromkeys(range(3), 0.0)
    for row in cases.slow_matrix(codes, factors, 10):
        k = row.index(max(row))
        best[k] = max(best[k], sorted(row)[-1] - sorted(row)[-2])
    whole = sum(cases.slow_entropy(list(column)) for column in factors.T)
    assert dcimig(codes, factors).value == pytest.approx(sum(best.values()) / whole)
