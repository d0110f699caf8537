"""Specks against a search for connected parts pixel by pixel."""

import numpy as np
import pytest

from experiments.digits.specks import share_with_specks
from unknot.errors import SpecError


def by_search(image: np.ndarray) -> bool:
    """Whether an image has a speck: from every pixel of ink, walk to its neighbors until there are no more."""
    left = {(int(i), int(j)) for i, j in np.argwhere(image > 0.3)}
    while left:
        part, edge = set(), {left.pop()}
        while edge:
            i, j = edge.pop()
            part.add((i, j))
            around = {(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
            left -= around
            edge |= around
        if len(part) < 6:
            return True
    return False


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_it_equals_a_walk_over_the_pixels(share: float) -> None:
    images = (np.random.default_rng(0).random((5, 8, 1, 12, 12)) < share).astype(float)
    expected = np.mean([by_search(image) for image in images.reshape(-1, 12, 12)])
    assert share_with_specks(images) == expected


def test_a_stroke_and_a_pens_dot_are_none_and_faint_pixels_are_no_ink() -> None:
    image = np.zeros((12, 12))
    image[2:10, 3] = 1
    image[5:7, 7:10] = 1
    image[0, 11] = 0.3
    assert share_with_specks(image) == 0
    image[0, 11] = 0.31
    assert share_with_specks(image) == 1


def test_corners_connect_and_nothing_at_all_has_none() -> None:
    assert share_with_specks(np.eye(8)) == 0
    assert share_with_specks(np.zeros((3, 8, 8))) == 0


def test_what_is_no_image_is_refused() -> None:
    for wrong in (np.zeros(5), np.zeros((0, 8, 8))):
        with pytest.raises(SpecError, match="expected images"):
            share_with_specks(wrong)
