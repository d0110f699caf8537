"""Likeness of images against loops over pixels and windows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.digits.image_likeness import psnr, ssim


def pictures(seed: int, count: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 14, 13))


def slow_psnr(one: np.ndarray, two: np.ndarray) -> float:
    errors = [(float(a) - float(b)) ** 2 for a, b in zip(one.ravel(), two.ravel(), strict=True)]
    return 10 * math.log10(1 / (math.fsum(errors) / len(errors)))


def slow_ssim(one: np.ndarray, two: np.ndarray) -> float:
    """Every window of 11 x 11 by itself, with weighted moments as in the paper's Eqs. 14-16."""
    weight = np.array(
        [[math.exp(-(i * i + j * j) / (2 * 1.5**2)) for j in range(-5, 6)] for i in range(-5, 6)]
    )
    weight /= weight.sum()
    found = []
    for top in range(one.shape[0] - 10):
        for left in range(one.shape[1] - 10):
            a, b = one[top : top + 11, left : left + 11], two[top : top + 11, left : left + 11]
            ma, mb = (weight * a).sum(), (weight * b).sum()
            va, vb = (weight * (a - ma) ** 2).sum(), (weight * (b - mb) ** 2).sum()
            cab = (weight * (a - ma) * (b - mb)).sum()
            bright = (2 * ma * mb + 1e-4) / (ma**2 + mb**2 + 1e-4)
            found.append(bright * (2 * cab + 9e-4) / (va + vb + 9e-4))
    return float(np.mean(found))


def test_both_agree_with_loops() -> None:
    one, two = pictures(0), pictures(1)
    np.testing.assert_allclose(psnr(one, two), [slow_psnr(a, b) for a, b in zip(one, two, strict=True)])
    np.testing.assert_allclose(ssim(one, two), [slow_ssim(a, b) for a, b in zip(one, two, strict=True)])


def test_equal_images_are_as_like_as_can_be() -> None:
    one = pictures(0)
    np.testing.assert_allclose(ssim(one, one), 1.0)
    assert np.isfinite(psnr(one, one)).all()


@pytest.mark.parametrize("measure", [psnr, ssim])
def test_the_order_does_not_matter_and_noise_lowers_it(measure) -> None:  # type: ignore[no-untyped-def]
    one, noise = pictures(0), pictures(1) - 0.5
    np.testing.assert_allclose(measure(one, one + 0.1 * noise), measure(one + 0.1 * noise, one))
    assert (measure(one, one + 0.1 * noise) > measure(one, one + 0.3 * noise)).all()


def test_images_of_one_grey_each_have_a_value_on_paper() -> None:
    """Flat images have no spread: what is left is (2ab + c₁)/(a² + b² + c₁)."""
    dark, light = np.full((1, 12, 12), 0.2), np.full((1, 12, 12), 0.6)
    np.testing.assert_allclose(ssim(dark, light), (2 * 0.12 + 1e-4) / (0.04 + 0.36 + 1e-4))
