"""Missing entries filled, outliers scored, and intervals of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimator.small import small
from unknot.errors import SpecError


def test_missing_entries_are_imputed_and_the_rest_is_kept() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 1))
    x = 50 + 10 * (z @ np.ones((1, 4)) + 0.2 * rng.normal(size=(300, 4)))  # each column tells the others
    holes = x.copy()
    holes[rng.random(x.shape) < 0.2] = np.nan
    vae = small(steps=300, style=2, learning_rate=1e-2).fit(holes, high=(z[:, 0] > 0).astype(int))
    filled, missing = vae.impute(holes), np.isnan(holes)
    np.testing.assert_allclose(filled[~missing], holes[~missing], rtol=1e-6)
    error = np.sqrt(np.mean((filled[missing] - x[missing]) ** 2))
    assert error < 0.7 * np.sqrt(np.mean((x[missing] - 50) ** 2))  # the mean of a column would do so
    assert vae.reconstruct(holes).shape == x.shape
    assert vae.score_samples(holes).shape == (300,)
    assert vae.score_samples(x[:50]).mean() > vae.score_samples(x[:50] + 200).mean()
    assert vae.history_[-1]["step"] == 300


def test_intervals_hold_about_as_many_as_they_say() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    y = 5 * x[:, 0] + rng.normal(size=400)
    vae = small(steps=300, learning_rate=1e-2).fit(x, y=y)
    ends = vae.predict_interval(x, level=0.9)
    assert ends.shape == (400, 2)
    np.testing.assert_allclose(ends.mean(1), vae.predict(x), rtol=1e-3, atol=1e-3)
    assert 0.75 < np.mean((ends[:, 0] < y) & (y < ends[:, 1])) <= 1
    with pytest.raises(SpecError, match="level between 0 and 1"):
        vae.predict_interval(x, level=2.0)
