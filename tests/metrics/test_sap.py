"""SAP: known answers, correlations by hand, discrete codes."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import sap

BINARY = cases.grid(2, 2, 2, repeats=200)


def test_known_answers() -> None:
    codes = BINARY.astype(float)
    assert sap(codes, BINARY).value == pytest.approx(0.5, abs=0.06)  # 1 minus the chance of the second code
    assert sap(np.concatenate([codes, codes], 1), BINARY).value == pytest.approx(0)
    assert sap(codes[:, ::-1], BINARY).value == pytest.approx(sap(codes, BINARY).value)


def test_it_cannot_see_middle_values() -> None:
    """One value against the rest is no half-line, so a perfect code of five values is read badly."""
    assert sap(cases.PERFECT[:, 2], cases.FACTORS[:, 2]).value < 0.9
    assert sap(cases.FACTORS[:, 2], cases.FACTORS[:, 2]).value == 1  # as a category it is read


def test_continuous_factors_by_squared_correlation() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=500)
    codes = np.stack([factor + rng.normal(size=500), factor + 3 * rng.normal(size=500), np.zeros(500)], 1)

    def squared(a: np.ndarray, b: np.ndarray) -> float:
        a, b = a - a.mean(), b - b.mean()
        return float((a @ b) ** 2 / (a @ a) / (b @ b))

    expected = squared(codes[:, 0], factor) - squared(codes[:, 1], factor)
    assert sap(codes, factor).value == pytest.approx(expected)


def test_a_discrete_code_explains_a_number_by_the_means_of_its_categories() -> None:
    code = cases.FACTORS[:, 1]
    number = np.array([5.0, 0.0, 7.0])[code]
    assert sap({"c": code}, number).value == pytest.approx(1)
    assert sap({"c": cases.FACTORS[:, 0]}, number).value == pytest.approx(0, abs=1e-9)
