"""JEMMIG: known answers and a slow twin."""

from math import log

import pytest

from tests.metrics import cases
from unknot.metrics import jemmig


def test_known_answers() -> None:
    assert jemmig(cases.PERFECT, cases.FACTORS).value == pytest.approx(1)
    useless = jemmig(cases.USELESS, cases.USELESS_FACTORS)  # log 4 nats of something else
    expected = sum(1 - (log(k) + log(4)) / (log(k) + log(10)) for k in (2, 3, 5)) / 3
    assert useless.value == pytest.approx(expected)
    discrete = jemmig(cases.USELESS, cases.USELESS_FACTORS, True)
    assert discrete.value == pytest.approx(0)  # all the entropy there could be, and none of it shared


def test_a_code_of_two_factors_pays_for_the_second() -> None:
    both = cases.FACTORS[:, 0] + 2 * cases.FACTORS[:, 1]
    assert jemmig(both, cases.FACTORS[:, 0]).value < 0.8
    assert jemmig(cases.FACTORS[:, 0], cases.FACTORS[:, 0]).value == pytest.approx(1)


def test_against_the_slow_twin() -> None:
    codes, factors = cases.ROTATED, cases.FACTORS
    matrix = cases.slow_matrix(codes, factors, 10)
    parts = []
    for k in range(3):
        column = [row[k] for row in matrix]
        best = column.index(max(column))
        pairs = list(zip(cases.slow_bin(codes[:, best], 10), factors[:, k], strict=True))
        second = sorted(column)[-2]
        loss = cases.slow_entropy(pairs) - column[best] + second
        parts.append(1 - loss / (cases.slow_entropy(list(factors[:, k])) + log(10)))
    assert jemmig(codes, factors).value == pytest.approx(sum(parts) / 3)
