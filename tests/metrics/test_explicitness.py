"""Explicitness: known answers and what no line separates."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import explicitness


def test_known_answers() -> None:
    assert explicitness(cases.PERFECT, cases.FACTORS).value > 0.99
    assert explicitness(cases.ROTATED, cases.FACTORS).value > 0.99  # it cannot see that codes are mixed
    assert explicitness(cases.FACTORS, cases.FACTORS).value == pytest.approx(1)
    noise = np.random.default_rng(0).normal(size=(3000, 2))
    factor = np.random.default_rng(1).integers(0, 2, 3000)
    assert abs(explicitness(noise, factor).value - 0.5) < 0.06
    assert abs(explicitness(noise, factor, protocol="carbonneau2020").value) < 0.1


def test_rings_are_not_explicit() -> None:
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 1000)
    ring = np.arange(1000) % 2
    codes = (1 + ring)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    assert explicitness(codes, ring).value < 0.6


def test_areas_over_all_pairs() -> None:
    """The area is the share of pairs that are in the right order."""
    from unknot.metrics.explicitness import _mean_area

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    p = rng.dirichlet(np.ones(3), 60)
    slow = []
    for k in range(3):
        wins = [(a > b) + (a == b) / 2 for a in p[y == k, k] for b in p[y != k, k]]
        slow.append(np.mean(wins))
    assert _mean_area(p, y, np.arange(3)) == pytest.approx(np.mean(slow))


def test_a_value_the_test_rows_lack_is_left_out() -> None:
    factor = np.concatenate([[2], cases.FACTORS[1:, 0]])
    assert explicitness(cases.PERFECT, factor).value > 0.9
