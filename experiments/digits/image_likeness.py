"""Two images of the same thing: how like they are, pixel by pixel and patch by patch."""

from __future__ import annotations

import numpy as np

_SIGMA, _SIDE = 1.5, 5  # of the window: a Gaussian of 11 x 11 pixels
_K1, _K2 = 0.01, 0.03


def psnr(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Peak signal to noise in decibels, ``-10 log10 mean (one - two)²``, of images ``(N, H, W)`` from 0 to 1: ``(N,)``.

    Equal images would be infinitely like; the error is taken to be at least that of a hundredth of a gray level of 256.

    >>> float(psnr(np.zeros((1, 4, 4)), np.full((1, 4, 4), 0.1))[0].round(6))
    20.0
    """
    error = ((one - two) ** 2).reshape(len(one), -1).mean(-1)
    return np.asarray(-10 * np.log10(np.maximum(error, (0.01 / 255) ** 2)))


def ssim(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Structural similarity (Wang et al. 2004, Eq. 13) of images ``(N, H, W)`` from 0 to 1: ``(N,)``, 1 for equal ones.

    The mean, over the places where an 11 x 11 Gaussian window fits, of

        (2 μ₁μ₂ + c₁)(2 σ₁₂ + c₂) / ((μ₁² + μ₂² + c₁)(σ₁² + σ₂² + c₂)),      c₁ = .01², c₂ = .03²
    """
    one, two = one.astype(np.float64), two.astype(np.float64)
    mean_one, mean_two = _windowed(one), _windowed(two)
    var_one, var_two = _windowed(one**2) - mean_one**2, _windowed(two**2) - mean_two**2
    covariance = _windowed(one * two) - mean_one * mean_two
    c1, c2 = _K1**2, _K2**2
    local = (2 * mean_one * mean_two + c1) * (2 * covariance + c2)
    local /= (mean_one**2 + mean_two**2 + c1) * (var_one + var_two + c2)
    return np.asarray(local.reshape(len(one), -1).mean(-1))


def _windowed(images: np.ndarray) -> np.ndarray:
    """The window's mean at every place where it fits: ``(N, H - 10, W - 10)``."""
    from scipy.ndimage import gaussian_filter1d

    for axis in (1, 2):
        images = gaussian_filter1d(images, _SIGMA, axis=axis, radius=_SIDE)
    return images[:, _SIDE:-_SIDE, _SIDE:-_SIDE]
