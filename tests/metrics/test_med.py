"""MED: known answers and the reference's numbers."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import med


def test_known_answers() -> None:
    perfect = med(cases.PERFECT, cases.FACTORS)
    assert (perfect.disentanglement, perfect.completeness) == pytest.approx((1, 1))
    twice = med(cases.DUPLICATED, cases.FACTORS)  # half of each factor in each of two codes of six
    assert (twice.disentanglement, twice.completeness) == pytest.approx((1, 1 - np.log(2) / np.log(6)))
    useless = med(cases.USELESS, cases.USELESS_FACTORS)
    assert (useless.disentanglement, useless.completeness) == pytest.approx((0, 0), abs=1e-9)


def test_the_references_numbers() -> None:
    found = med(*cases.golden())
    assert found.disentanglement == pytest.approx(0.7945, abs=1e-3)
    assert found.completeness == pytest.approx(0.6863, abs=1e-3)


def test_against_the_slow_twin() -> None:
    matrix = np.array(cases.slow_matrix(cases.ROTATED, cases.FACTORS, 20))
    shares = matrix / matrix.sum(0)
    parts = []
    for row in shares:
        p = row / row.sum()
        parts.append((row.sum() / shares.sum()) * (1 + sum(x * np.log(x) / np.log(3) for x in p)))
    assert med(cases.ROTATED, cases.FACTORS).disentanglement == pytest.approx(sum(parts))


def test_it_reads_well() -> None:
    said = repr(med(cases.PERFECT, cases.FACTORS))
    assert said == "med: disentanglement 1.000, completeness 1.000 (locatello2019)"
