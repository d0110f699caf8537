"""Jittered images: each by its own small amount, none in evaluation."""

from __future__ import annotations

import torch

from unknot.models.augment import AffineJitter


def test_no_amount_is_no_change() -> None:
    images = torch.rand(4, 1, 9, 9)
    torch.testing.assert_close(AffineJitter(0, 0, 0, 0)(images), images, rtol=1e-4, atol=1e-5)


def test_a_shift_moves_the_ink_by_its_share() -> None:
    images = torch.zeros(200, 1, 21, 21)
    images[:, :, 10, 10] = 1.0
    moved = AffineJitter(0, 0, 0, shift=0.2)(images)[:, 0]
    columns = torch.arange(21.0) - 10
    ink = moved.sum((1, 2))
    right = (moved.sum(1) * columns).sum(1) / ink
    # shift 0.2 of half a side is at most 2.1 pixels, uniformly either way
    assert right.abs().max() < 2.2
    assert right.min() < -1.5
    assert right.max() > 1.5


def test_images_move_on_their_own_and_only_in_training() -> None:
    images = torch.rand(1, 1, 9, 9).expand(3, 1, 9, 9)
    jitter = AffineJitter()
    one = jitter(images)
    assert one.shape == images.shape
    assert not torch.allclose(one[0], one[1])
    assert jitter.eval()(images) is images


def test_a_bend_moves_neighbours_together_and_distant_points_apart() -> None:
    ramp = torch.linspace(-1, 1, 29).expand(500, 1, 29, 29)  # a pixel's value is its place from left to right
    moved = AffineJitter(0, 0, 0, 0, bend=0.05)(ramp)[:, 0, 10:19, 10:19] - ramp[:, 0, 10:19, 10:19]
    assert 0.02 < moved.std() < 0.08  # about the bend
    near, far = (moved[:, 4, 4] - moved[:, 4, 5]).std(), (moved[:, 4, 0] - moved[:, 4, 8]).std()
    assert near < 0.4 * far
