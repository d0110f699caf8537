"""Sharpness against its loop, and blurring lowers it."""

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.metrics.analogies import sharpness

IMAGES = np.random.default_rng(0).random((3, 2, 5, 4))


def test_it_equals_its_loop() -> None:
    squares = []
    for image in IMAGES.reshape(-1, 5, 4):
        for i in range(5):
            for j in range(4):
                if i + 1 < 5:
                    squares.append((image[i + 1, j] - image[i, j]) ** 2)
                if j + 1 < 4:
                    squares.append((image[i, j + 1] - image[i, j]) ** 2)
    assert sharpness(IMAGES) == pytest.approx(np.sqrt(np.mean(squares)))


def test_blurring_lowers_it_and_brightness_does_not_matter() -> None:
    blurred = (IMAGES + np.roll(IMAGES, 1, -1)) / 2
    assert sharpness(blurred) < 0.9 * sharpness(IMAGES)
    assert sharpness(IMAGES + 5.0) == pytest.approx(sharpness(IMAGES))
    assert sharpness(np.ones((4, 4))) == 0.0


def test_a_row_is_no_image() -> None:
    with pytest.raises(SpecError, match="sharpness: expected images"):
        sharpness(np.ones(5))
