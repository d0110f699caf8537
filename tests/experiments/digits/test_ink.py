"""Ink and background against a search over all thresholds, and where they are known."""

import numpy as np
import pytest

from experiments.digits.analogy_scores import ink_and_background, ink_is_dark
from unknot.errors import SpecError


def by_search(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ink and background of one image ``(C, H, W)``: every split of the brightnesses is tried, pixel by pixel."""
    _, height, width = image.shape
    gray = {(i, j): float(np.mean(image[:, i, j])) for i in range(height) for j in range(width)}
    best, dark = -1.0, set(gray)
    for limit in sorted(set(gray.values()))[:-1]:
        low = {place for place, value in gray.items() if value <= limit}
        high = set(gray) - low
        means = [np.mean([gray[place] for place in part]) for part in (low, high)]
        between = len(low) * len(high) * (means[1] - means[0]) ** 2
        if between > best:
            best, dark = between, low
    wide = -(-height // 8)
    border = [p for p in gray if min(p[0], p[1], height - 1 - p[0], width - 1 - p[1]) < wide]
    dark_border = sum(place in dark for place in border) >= len(border) / 2
    behind = dark if dark_border else set(gray) - dark
    colors = [np.mean([image[:, i, j] for i, j in part], 0) for part in (set(gray) - behind, behind)]
    return colors[0], colors[1]


def test_it_equals_a_search_over_all_thresholds() -> None:
    images = np.random.default_rng(0).random((4, 3, 3, 9, 9))
    ink, behind = ink_and_background(images)
    assert ink.shape == behind.shape == (4, 3, 3)
    for i in range(4):
        for j in range(3):
            expected = by_search(images[i, j])
            np.testing.assert_allclose(ink[i, j], expected[0])
            np.testing.assert_allclose(behind[i, j], expected[1])


@pytest.mark.parametrize("swapped", [False, True])
def test_a_number_on_a_wall_has_its_own_color_whichever_is_brighter(swapped: bool) -> None:
    number, wall = np.array([0.9, 0.8, 0.1]), np.array([0.1, 0.3, 0.2])
    if swapped:
        number, wall = wall, number
    image = np.repeat(np.repeat(wall[:, None, None], 32, 1), 32, 2)
    image[:, 6:26, 14:19] = number[:, None, None]
    ink, behind = ink_and_background(image)
    np.testing.assert_allclose(ink, number)
    np.testing.assert_allclose(behind, wall)


def halves(turned: bool) -> np.ndarray:
    """A border that is half dark and half light, but for one pixel; ``turned``: the other way round."""
    image = np.zeros((3, 16, 16))
    image[:, :, 8:] = 1
    image[:, 0, 7 if turned else 8] = 1 if turned else 0
    return image


def test_two_images_are_compared_by_the_same_part() -> None:
    first, second = halves(False), halves(True)
    assert ink_is_dark(first) != ink_is_dark(second)  # a toss: two pixels are all that differs
    alone, beside = ink_and_background(second), ink_and_background(second, like=first)
    np.testing.assert_allclose(beside[0], alone[1])
    np.testing.assert_allclose(beside[1], alone[0])
    ink, behind = ink_and_background(first)
    assert np.abs(beside[0] - ink).max() < 0.02
    assert np.abs(beside[1] - behind).max() < 0.02
    same = ink_and_background(first, like=first)
    np.testing.assert_allclose(same, (ink, behind))


def test_the_part_is_looked_for_item_by_item() -> None:
    items = np.stack([halves(False), halves(True)])
    made = np.stack([items, items[::-1]], 1)  # (2 items, 2 made of each)
    ink, _ = ink_and_background(made, like=items[:, None])
    for i in range(2):
        for k in range(2):
            expected, _ = ink_and_background(made[i, k], like=items[i])
            np.testing.assert_allclose(ink[i, k], expected)


def test_an_image_of_one_brightness_is_background() -> None:
    flat = np.full((2, 3, 8, 8), 0.25)
    sign = np.ones((2, 3, 8, 8))
    sign[:, :, 3:5, 3:5] = 0
    for like in (None, sign, 1 - sign):
        ink, behind = ink_and_background(flat, like)
        np.testing.assert_allclose(ink, 0.25)
        np.testing.assert_allclose(behind, 0.25)


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(SpecError, match=r"\(\.\.\., C, H, W\)"):
        ink_and_background(np.zeros((3, 8)))
