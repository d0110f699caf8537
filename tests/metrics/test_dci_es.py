"""DCI-ES: areas by hand, and codes that need deeper trees."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import dci, dci_es
from unknot.metrics.dci_es import area_explicitness, dci_and_es
from unknot.metrics.parts.columns import read_pair


def test_size() -> None:
    assert dci_es(cases.DUPLICATED, cases.FACTORS).size == 3 / 6


def test_codes_that_shallow_trees_read_are_explicit() -> None:
    easy = dci_es(cases.PERFECT[:, :1], cases.FACTORS[:, 0]).explicitness
    assert easy == 1
    parity = (cases.FACTORS[:, 2] + 5 * cases.FACTORS[:, 1]) % 2  # of a number up to 14
    hard = dci_es(cases.PERFECT[:, 2] + 5 * cases.PERFECT[:, 1], parity).explicitness
    assert hard < 0.97


def test_areas_by_the_trapezoidal_rule() -> None:
    rng = np.random.default_rng(0)
    depths = np.array([1.0, 2.0, 4.0, 8.0])
    curves = np.minimum.accumulate(rng.random((3, 4)), axis=1)
    baseline = np.array([1.0, 0.9, 0.8])
    slow = [
        1 - 2 * np.trapezoid(curve - curve.min(), depths) / (7 * b)
        for curve, b in zip(curves, baseline, strict=True)
    ]
    assert area_explicitness(depths, curves, baseline) == pytest.approx(slow)


def test_a_factor_nobody_can_read_looks_explicit() -> None:
    """The score's blind spot, stated in its docstring."""
    noise = np.random.default_rng(0).normal(size=(900, 3))
    assert dci_es(noise, cases.FACTORS).explicitness > 0.9


def test_both_scores_from_the_same_forests_are_the_scores_themselves() -> None:
    read = read_pair(cases.PERFECT[:400], cases.FACTORS[:400], None, None)
    both = dci_and_es(*read, seed=3)
    assert both is not None
    alone = dci(*read, seed=3), dci_es(*read, seed=3)
    assert [one.numbers for one in both] == [one.numbers for one in alone]
    np.testing.assert_array_equal(both[0].matrix, alone[0].matrix)
    np.testing.assert_array_equal(both[1].curves, alone[1].curves)
    assert dci_and_es(*read, seed=None) is None
    assert dci_and_es(*read, seed=3, protocol="locatello2019") is None  # boosting grows no forest
