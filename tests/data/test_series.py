"""Series: arrays of few channels or many steps, with missing steps, of any scale and type."""

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.data.series import is_series
from unknot.errors import DataError


@pytest.mark.parametrize("low", [0.0, -3.0])
@pytest.mark.parametrize("high", [1.0, 100.0])
def test_series_stay_as_they_are_whatever_their_scale(low: float, high: float) -> None:
    x = np.random.default_rng(0).uniform(low, high, (5, 3, 40)).astype(np.float32)
    data = from_arrays(x)
    assert is_series(data)
    assert torch.equal(torch.as_tensor(data.x), torch.from_numpy(x))


def test_missing_steps_are_kept_and_infinity_is_refused() -> None:
    x = np.ones((5, 3, 40), np.float32)
    x[1, 2, 30:] = np.nan
    assert int(torch.as_tensor(from_arrays(x).x).isnan().sum()) == 10
    x[0, 0, 0] = np.inf
    with pytest.raises(DataError, match="infinity"):
        from_arrays(x)


def test_whole_numbers_are_series_and_gray_images_are_none() -> None:
    assert is_series(from_arrays(np.zeros((5, 3, 40), np.int64)))
    assert not is_series(from_arrays(np.zeros((5, 28, 28), np.uint8)))
    assert not is_series(from_arrays(np.zeros((5, 12, 20), np.float32)))
