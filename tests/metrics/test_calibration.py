"""Reliability in bins, against a plain loop, and of an encoder that is right as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.metrics.prediction_error import reliability


def test_bins_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    sure, right = rng.uniform(0.3, 1, 500), rng.random(500) < 0.6
    found, error = reliability(sure, right), 0.0
    loop = [
        [(s, r) for s, r in zip(sure, right, strict=True) if low / 10 <= s < (low + 1) / 10]
        for low in range(3, 10)
    ]
    for i, members in enumerate(loop):
        mean, share = np.mean([s for s, _ in members]), np.mean([r for _, r in members])
        assert (found.sure[i], found.right[i], found.items[i]) == pytest.approx((mean, share, len(members)))
        error += len(members) / 500 * abs(mean - share)
    assert found.error == pytest.approx(error)


def test_what_is_right_as_often_as_it_says_is_calibrated() -> None:
    sure = np.full(10, 0.7)
    assert reliability(sure, np.arange(10) < 7).error == pytest.approx(0, abs=1e-9)
    assert reliability(np.ones(4), np.zeros(4, bool)).error == 1.0
