"""Probes: they find what is there, each in its own way, and nothing where nothing is."""

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.metrics.probes import (
    chance_error,
    linear_probe_error,
    neighbor_probe_error,
    network_probe_error,
)

PROBES = [linear_probe_error, neighbor_probe_error, network_probe_error]
CLASSES = np.random.default_rng(0).integers(0, 4, 1200)


def halves(codes: np.ndarray, classes: np.ndarray = CLASSES):
    return codes[:600], classes[:600], codes[600:], classes[600:]


@pytest.mark.parametrize("probe", PROBES)
def test_codes_that_say_nothing_leave_chance(probe) -> None:
    codes = np.random.default_rng(1).normal(size=(1200, 3))
    error = probe(*halves(codes))
    assert abs(error - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 600)  # five standard errors


@pytest.mark.parametrize("probe", PROBES)
def test_a_small_direction_counts_as_much_as_a_large_one(probe) -> None:
    rng = np.random.default_rng(2)
    codes = np.stack([1e-3 * (CLASSES + 0.05 * rng.normal(size=1200)), 1e3 * rng.normal(size=1200)], 1)
    assert probe(*halves(codes)) < 0.2


def test_neighbors_see_what_no_line_separates() -> None:
    angle = np.random.default_rng(3).uniform(0, 2 * np.pi, 1200)
    rings = (1 + CLASSES % 2)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    assert linear_probe_error(*halves(rings, CLASSES % 2)) > 0.35
    assert neighbor_probe_error(*halves(rings, CLASSES % 2)) == 0.0
    assert network_probe_error(*halves(rings, CLASSES % 2)) < 0.02


def test_items_of_unknown_class_do_not_count() -> None:
    codes = CLASSES[:, None] + 0.01 * np.random.default_rng(4).normal(size=(1200, 1))
    shown = np.where(np.arange(1200) % 3 == 0, -1, CLASSES)
    assert neighbor_probe_error(*halves(codes, shown)) == 0.0


@pytest.mark.parametrize("probe", PROBES)
def test_numbers_by_the_variance_that_is_left(probe) -> None:
    rng = np.random.default_rng(5)
    codes = rng.normal(size=(1200, 2))
    size = 1000 + 50 * (codes @ [[3.0, 0.0], [0.0, 4.0]])  # two numbers in units of their own
    assert probe(*halves(codes, size)) < 0.1
    assert (
        0.9 < probe(*halves(codes, rng.normal(size=1200))) < 1.4
    )  # neighbors of noise are worse than the mean


def test_a_linear_probe_of_numbers_is_least_squares() -> None:
    rng = np.random.default_rng(6)
    codes, truth = rng.normal(size=(1200, 3)), rng.normal(size=1200)
    truth += codes @ [1.0, -2.0, 0.5]
    truth[:50] = np.nan
    learned, known = slice(50, 600), slice(600, 1200)
    design = np.c_[np.ones(1200), codes]
    weights = np.linalg.lstsq(design[learned], truth[learned], rcond=None)[0]
    left = np.sum((truth[known] - design[known] @ weights) ** 2)
    whole = np.sum((truth[known] - truth[learned].mean()) ** 2)
    assert linear_probe_error(*halves(codes, truth)) == pytest.approx(left / whole, rel=0.01)


def test_chance_is_the_commonest_class_or_the_mean() -> None:
    assert chance_error(np.array([1, 1, 0, -1]), np.array([0, 1, 1, 1])) == 0.25
    assert chance_error(np.array([0.5, 2.0]), np.array([1.0])) == 1.0


def test_no_known_number_is_refused() -> None:
    codes = np.zeros((4, 1))
    with pytest.raises(SpecError, match="all 4 are NaN"):
        linear_probe_error(codes, np.arange(4.0), codes, np.full(4, np.nan))
