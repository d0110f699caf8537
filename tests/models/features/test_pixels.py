"""Pixels: gradients have a direction, and sizes below the smallest one are kept."""

import torch

from unknot.data.from_arrays import from_arrays
from unknot.models.features.pixels import Pixels, gradient_histograms


def test_gradients_tell_upright_edges_from_level_ones() -> None:
    upright = torch.zeros(1, 1, 16, 16)
    upright[..., 8:] = 4.0
    cells = gradient_histograms(upright).reshape(9, 7, 7)
    turned = gradient_histograms(upright.transpose(2, 3)).reshape(9, 7, 7)
    assert int(cells.sum((1, 2)).argmax()) == 0  # the gradient points to the right
    assert int(turned.sum((1, 2)).argmax()) in (4, 5)  # 90 of 180 degrees


def test_flat_pictures_have_no_gradients() -> None:
    assert not gradient_histograms(torch.full((2, 3, 10, 10), 0.5)).any()


def test_pictures_of_few_pixels_and_pictures_that_are_alike() -> None:
    data = from_arrays(torch.full((3, 1, 8, 8), 7, dtype=torch.uint8))
    rows = Pixels.for_data(data)(data.batch(range(3)).x)
    assert bool(rows.isfinite().all())
    assert float(rows.abs().max()) < 1e-3
