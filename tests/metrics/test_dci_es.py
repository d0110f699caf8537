"""DCI-ES: areas by hand, and codes that need deeper trees."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import dci_es
from unknot.metrics.dci_es import area_explicitness


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
