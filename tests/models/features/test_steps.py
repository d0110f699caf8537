"""Steps: scales without missing steps, and interpolation against numpy."""

import numpy as np
import torch

from unknot.models.features.steps import Scales, interpolated

NAN = np.nan


def test_interpolation_is_that_of_numpy() -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(3, 2, 9))
    x[draw.random(x.shape) < 0.5] = NAN
    x[:, :, 4] = 1.0  # at least one step is known
    steps = np.arange(9)
    for series, filled in zip(
        x.reshape(-1, 9), interpolated(torch.from_numpy(x)).reshape(-1, 9), strict=True
    ):
        known = ~np.isnan(series)
        np.testing.assert_allclose(filled, np.interp(steps, steps[known], series[known]), atol=1e-6)


def test_a_channel_without_known_steps_stays_missing() -> None:
    x = torch.tensor([[[NAN, NAN], [1.0, NAN]]])
    assert interpolated(x).isnan().tolist() == [[[True, True], [False, False]]]


def test_scales_are_of_the_known_steps_and_go_back() -> None:
    x = torch.tensor([[[1.0, 3.0, NAN], [5.0, 5.0, 5.0]]])
    scales = Scales.learn(x)
    assert scales.center.tolist() == [2.0, 5.0]
    assert scales.scale.tolist() == [1.0, 1.0]
    torch.testing.assert_close(scales.in_units(scales.standard(x)), x, equal_nan=True)
