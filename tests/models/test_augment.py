"""Jittered images: each by its own small amount, none in evaluation."""

from __future__ import annotations

import pytest
import torch

from unknot.errors import SpecError
from unknot.models.augment import Augmentation, augmenter


def test_no_amount_is_no_change() -> None:
    images = torch.rand(4, 1, 9, 9)
    torch.testing.assert_close(Augmentation(0, 0, 0, 0)(images), images, rtol=1e-4, atol=1e-5)


def test_a_shift_moves_the_ink_by_its_share() -> None:
    images = torch.zeros(200, 1, 21, 21)
    images[:, :, 10, 10] = 1.0
    moved = Augmentation(0, 0, 0, shift=0.2)(images)[:, 0]
    columns = torch.arange(21.0) - 10
    ink = moved.sum((1, 2))
    right = (moved.sum(1) * columns).sum(1) / ink
    # shift 0.2 of half a side is at most 2.1 pixels, uniformly either way
    assert right.abs().max() < 2.2
    assert right.min() < -1.5
    assert right.max() > 1.5


def test_a_zoom_scales_both_sides_alike_in_the_logarithm() -> None:
    images = torch.zeros(400, 1, 41, 41)
    images[:, :, 14:27, 14:27] = 1.0
    ink = Augmentation(0, 0, 0, 0, zoom=0.4)(images)[:, 0]
    wide, high = ink.amax(1).sum(1), ink.amax(2).sum(1)  # sides of the square
    torch.testing.assert_close(wide, high, rtol=1e-3, atol=1e-3)
    grown = (wide / 13).log()
    assert grown.abs().max() < 0.45
    assert grown.min() < -0.35
    assert grown.max() > 0.35
    assert grown.mean().abs() < 0.06  # five standard errors


def test_images_move_on_their_own_and_only_in_training() -> None:
    images = torch.rand(1, 1, 9, 9).expand(3, 1, 9, 9)
    jitter = Augmentation()
    one = jitter(images)
    assert one.shape == images.shape
    assert not torch.allclose(one[0], one[1])
    assert jitter.eval()(images) is images


def test_a_bend_moves_neighbors_together_and_distant_points_apart() -> None:
    ramp = torch.linspace(-1, 1, 29).expand(500, 1, 29, 29)  # a pixel's value is its place from left to right
    moved = Augmentation(0, 0, 0, 0, bend=0.05)(ramp)[:, 0, 10:19, 10:19] - ramp[:, 0, 10:19, 10:19]
    assert 0.02 < moved.std() < 0.08  # about the bend
    near, far = (moved[:, 4, 4] - moved[:, 4, 5]).std(), (moved[:, 4, 0] - moved[:, 4, 8]).std()
    assert near < 0.4 * far


def test_brightness_is_scaled_and_bent_in_the_logarithm() -> None:
    images = torch.full((20_000, 1, 4, 4), 0.25)
    none = dict.fromkeys(("turn", "scale", "shear", "shift"), 0.0)
    gained = Augmentation(**none, gain=0.1)(images)[:, 0, 1, 1].log()
    assert abs(gained.mean() - torch.tensor(0.251).log()) < 5 * 0.1 / 20_000**0.5
    assert abs(gained.std() - 0.1) < 0.004
    bent = (Augmentation(**none, gamma=0.1)(images)[:, 0, 1, 1].log() / torch.tensor(0.251).log()).log()
    assert abs(bent.std() - 0.1) < 0.004


def test_a_hidden_square_has_the_mean_and_its_largest_side() -> None:
    images = torch.rand(500, 1, 30, 30)
    none = dict.fromkeys(("turn", "scale", "shear", "shift"), 0.0)
    changed = (Augmentation(**none, hide=0.3)(images) - images).abs()[:, 0] > 1e-4
    tallest = changed.any(2).sum(1).max()
    assert 7 <= tallest <= 9  # 0.3 of 30
    assert changed.any((1, 2)).float().mean() > 0.99


def test_amounts_are_named() -> None:
    assert augmenter({"turn": 0.1}).amounts == (0.1, 0.0, 0.0, 0.0)
    with pytest.raises(SpecError, match="unknown key 'twist'"):
        augmenter({"twist": 1.0})
    with pytest.raises(SpecError, match="affine, elastic"):
        augmenter("affin")
