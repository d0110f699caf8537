"""Placing by two matrices is bilinear sampling point by point, and can be learned by."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from experiments.canvases.model.placing import cut_out, put_down

PLACES = torch.tensor([[0.1, -0.3, 0.5], [-0.7, 0.2, 0.35], [0.0, 0.0, 1.0], [1.4, 0.0, 0.4]])


def sampled(images: Tensor, shift: Tensor, scale: Tensor, side: int) -> Tensor:
    """torch's own sampling: the point v of the output shows the point v · scale + shift of the input."""
    maps = torch.zeros(len(images), 2, 3)
    maps[:, 0, 0] = maps[:, 1, 1] = scale
    maps[:, :, 2] = shift
    return grid_sample(images, affine_grid(maps, [len(images), 1, side, side], False), align_corners=False)


def test_both_directions_are_bilinear_sampling() -> None:
    torch.manual_seed(0)
    images, canvases = torch.rand(4, 1, 7, 7), torch.rand(4, 1, 20, 20)
    shift, scale = PLACES[:, :2], PLACES[:, 2]
    put = sampled(images, -shift / scale[:, None], 1 / scale, 20)
    torch.testing.assert_close(put_down(images, PLACES, 20), put, atol=1e-5, rtol=1e-5)
    cut = sampled(canvases, shift, scale, 7)
    torch.testing.assert_close(cut_out(canvases, PLACES, 7), cut, atol=1e-5, rtol=1e-5)


def test_the_whole_canvas_is_cut_out_as_it_is() -> None:
    canvas = torch.rand(2, 1, 12, 12)
    whole = torch.tensor([0.0, 0.0, 1.0])
    torch.testing.assert_close(cut_out(canvas, whole, 12), canvas)
    torch.testing.assert_close(put_down(canvas, whole, 12), canvas)


def test_any_leading_axes_and_gradients_of_places() -> None:
    torch.manual_seed(0)
    images = torch.rand(3, 4, 1, 7, 7, dtype=torch.float64)
    place = (PLACES[:3].double() + 0.011).requires_grad_()  # off the kinks, which are between pixels
    apart = put_down(images, PLACES.double(), 20)
    torch.testing.assert_close(apart[1], put_down(images[1], PLACES.double(), 20))
    assert torch.autograd.gradcheck(lambda at: put_down(images[0, :3], at, 9), (place,))
    assert torch.autograd.gradcheck(lambda at: cut_out(images[0, :3], at, 5), (place,))
