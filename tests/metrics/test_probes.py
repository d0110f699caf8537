"""Probes: they find what is there, each in its own way, and nothing where nothing is."""

import numpy as np
import pytest

from unknot.metrics.probes import linear_probe_error, neighbour_probe_error

CLASSES = np.random.default_rng(0).integers(0, 4, 1200)


def halves(codes: np.ndarray, classes: np.ndarray = CLASSES):
    return codes[:600], classes[:600], codes[600:], classes[600:]


@pytest.mark.parametrize("probe", [linear_probe_error, neighbour_probe_error])
def test_codes_that_say_nothing_leave_chance(probe) -> None:
    codes = np.random.default_rng(1).normal(size=(1200, 3))
    error = probe(*halves(codes))
    assert abs(error - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 600)  # five standard errors


@pytest.mark.parametrize("probe", [linear_probe_error, neighbour_probe_error])
def test_a_small_direction_counts_as_much_as_a_large_one(probe) -> None:
    rng = np.random.default_rng(2)
    codes = np.stack([1e-3 * (CLASSES + 0.05 * rng.normal(size=1200)), 1e3 * rng.normal(size=1200)], 1)
    assert probe(*halves(codes)) < 0.2


def test_neighbours_see_what_no_line_separates() -> None:
    angle = np.random.default_rng(3).uniform(0, 2 * np.pi, 1200)
    rings = (1 + CLASSES % 2)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    assert linear_probe_error(*halves(rings, CLASSES % 2)) > 0.35
    assert neighbour_probe_error(*halves(rings, CLASSES % 2)) == 0.0


def test_items_of_unknown_class_do_not_count() -> None:
    codes = CLASSES[:, None] + 0.01 * np.random.default_rng(4).normal(size=(1200, 1))
    shown = np.where(np.arange(1200) % 3 == 0, -1, CLASSES)
    assert neighbour_probe_error(*halves(codes, shown)) == 0.0
