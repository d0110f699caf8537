"""Convolutions: shapes and frequencies are told apart, and padding behind the end counts for nothing."""

import numpy as np
import torch

from unknot.data.from_arrays import from_arrays
from unknot.models.features.series import Convolutions


def waves(count: int, steps: int, period: float) -> np.ndarray:
    draw = np.random.default_rng(0)
    phases = draw.uniform(0, 2 * np.pi, (count, 1))
    return np.sin(2 * np.pi * np.arange(steps) / period + phases)[:, None].astype(np.float32)


def test_a_linear_model_tells_periods_apart_whatever_the_phase() -> None:
    from sklearn.linear_model import LogisticRegression

    x = np.concatenate([waves(40, 60, 6.0), waves(40, 60, 9.0)])
    y = np.arange(80) // 40
    data = from_arrays(x)
    rows = Convolutions.for_data(data)(data.x).numpy()
    model = LogisticRegression().fit(rows[::2], y[::2])
    assert model.score(rows[1::2], y[1::2]) == 1.0


def test_the_scale_of_a_channel_does_not_count() -> None:
    x = waves(10, 30, 7.0)
    one = Convolutions.for_data(from_arrays(x))(torch.from_numpy(x))
    other = Convolutions.for_data(from_arrays(1000 * x))(torch.from_numpy(1000 * x))
    torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-2)


def test_steps_behind_the_end_are_left_out() -> None:
    x = waves(10, 30, 7.0)
    x[:, :, 20:] = np.nan
    features = Convolutions.for_data(from_arrays(x))
    rows = torch.from_numpy(x)
    longer = torch.cat([rows, torch.full((10, 1, 5), torch.nan)], 2)
    again = Convolutions(1, 35)
    assert features._prepared(rows)[1].tolist() == again._prepared(longer)[1].tolist() == [20] * 10


def test_rows_are_series_of_one_channel() -> None:
    x = torch.from_numpy(waves(10, 30, 7.0))
    features = Convolutions.for_data(from_arrays(x.numpy()))
    assert torch.equal(features(x), features(x[:, 0]))
