"""Leak: the best of three probes beside chance."""

import numpy as np
import pytest

from unknot.metrics.probes import Leak, leak


def test_the_best_probe_counts_and_chance_is_nothing() -> None:
    assert Leak(0.9, 0.45, 0.6, 0.9, 100).carried == pytest.approx(0.5)
    assert Leak(0.95, 0.92, 0.9, 0.9, 100).carried == 0.0
    assert Leak(0.0, 0.0, 0.0, 0.0, 100).carried == 0.0  # one class: there is nothing to carry


def test_numbers_and_classes_that_are_there_and_that_are_not() -> None:
    rng = np.random.default_rng(0)
    noise, number = rng.normal(size=(600, 2)), rng.normal(size=600)
    number[::10] = np.nan
    with_it = np.where(np.isnan(number), 0.0, number)[:, None] + 0.01 * noise
    found = leak(with_it[:300], number[:300], with_it[300:], number[300:])
    assert found.items == 270
    assert found.chance == 1.0
    assert found.carried > 0.98
    assert leak(noise[:300], number[:300], noise[300:], number[300:]).carried < 0.1
    digit = rng.integers(0, 3, 600)
    bent = np.stack([np.cos(digit * 2.1), np.sin(digit * 2.1)], 1) * (1 + 0.1 * noise[:, :1])
    assert leak(bent[:300], digit[:300], bent[300:], digit[300:]).carried > 0.9
