"""IRS: known answers and a slow twin."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import irs
from unknot.metrics.protocols import Robustness


def test_known_answers() -> None:
    for codes in (cases.PERFECT, cases.DUPLICATED, cases.PERFECT[:, :1]):  # it sees neither copies nor gaps
        assert irs(codes, cases.FACTORS).value == pytest.approx(1)
    assert irs(cases.USELESS, cases.USELESS_FACTORS).value == pytest.approx(0)
    assert irs(cases.FACTORS, cases.FACTORS).value == pytest.approx(1)  # as categories
    assert irs(cases.USELESS, cases.USELESS_FACTORS, True).value == pytest.approx(0)


def test_dead_codes_are_not_counted() -> None:
    found = irs(np.concatenate([cases.PERFECT, np.zeros((900, 1))], 1), cases.FACTORS)
    assert (found.live, found.value) == (3, pytest.approx(1))
    assert irs(np.zeros((900, 1)), cases.FACTORS).value == 0


def test_against_the_slow_twin_with_maxima() -> None:
    codes, factors = cases.ROTATED, cases.FACTORS
    scores, reach = [], []
    for z in codes.T:
        far = max(abs(x - np.mean(z)) for x in z)
        robust = []
        for v in factors.T:
            worst = [max(abs(x - np.mean(z[v == value])) for x in z[v == value]) for value in sorted(set(v))]
            robust.append(1 - np.mean(worst) / far)
        scores.append(max(robust))
        reach.append(far)
    slow = np.dot(scores, reach) / sum(reach)
    assert irs(codes, factors, protocol=Robustness(quantile=1.0)).value == pytest.approx(slow)
