"""SeriesComponents: all components give the series back, missing steps filled in."""

import pytest
import torch

from unknot.models.ensemble.series_components import SeriesComponents


@pytest.mark.parametrize("channels", [0, 1, 3])
def test_all_components_give_the_series_back(channels: int) -> None:
    shape = (8, 4) if channels == 0 else (8, channels, 4)
    x = 3 + 2 * torch.randn(shape, generator=torch.Generator().manual_seed(0))
    components = SeriesComponents(channels, 4, min(7, max(channels, 1) * 4))
    components.learn(x)
    assert components.inverse(components(x)).shape == x.shape
    if channels < 2:  # as many components as columns
        torch.testing.assert_close(components.inverse(components.of_all(x)), x, rtol=1e-3, atol=1e-3)


def test_missing_steps_are_interpolated() -> None:
    x = torch.randn(6, 2, 5, generator=torch.Generator().manual_seed(0))
    x[:, 0, 2] = (x[:, 0, 1] + x[:, 0, 3]) / 2
    components = SeriesComponents(2, 5, 3)
    components.learn(x)
    lost = x.clone()
    lost[0, 0, 2] = torch.nan
    torch.testing.assert_close(components(lost), components(x))
    lost[0, 1] = torch.nan  # a channel that is missing is at the mean
    assert bool(components(lost).isfinite().all())
