"""Series in the estimator: any scale, missing steps, one channel as rows, and a saved model that predicts the same."""

from pathlib import Path

import numpy as np

from unknot import StructuredVAE


def waves(count: int, channels: int = 2, steps: int = 40) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, count)
    phases = draw.uniform(0, 2 * np.pi, (count, channels, 1))
    periods = np.where(y, 6.0, 9.0)[:, None, None]
    x = 500 + 90 * np.sin(2 * np.pi * np.arange(steps) / periods + phases)
    x[0, 0, 30:] = np.nan
    return x.astype(np.float32), y


def test_channels_and_missing_steps(tmp_path: Path) -> None:
    x, y = waves(120)
    labels = np.where(np.arange(120) < 40, y, -1)
    vae = StructuredVAE(steps=20, verbose=False, verdict=False).fit(x, kind=labels)
    assert vae.trained_.source.default is not None
    assert vae.trained_.source.default.name == "series"
    assert (vae.predict(x[40:]) == y[40:]).mean() > 0.9
    assert len(vae.predict(x)) == 120  # a missing step has a prediction
    vae.save(tmp_path / "saved")
    again = StructuredVAE.load(tmp_path / "saved")
    assert np.array_equal(again.predict_proba(x), vae.predict_proba(x))
    assert vae.sample(3).shape == (3, 2, 40)


def test_rows_are_series_of_one_channel_by_name() -> None:
    x, y = waves(80, channels=1)
    x[0, 0] = x[1, 0]
    labels = np.where(np.arange(80) < 40, y, -1)
    vae = StructuredVAE("series", steps=20, verbose=False, verdict=False).fit(x[:, 0], kind=labels)
    assert (vae.predict(x[40:, 0]) == y[40:]).mean() > 0.9
