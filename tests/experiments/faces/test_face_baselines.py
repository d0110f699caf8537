"""Rivals: by loops over photographs, and exactly where the faces are what a rival takes them for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.faces.face_baselines import (
    BASELINES,
    Photographs,
    fill_in,
    mean_face,
    multilinear,
    nearest_photograph,
    psnr,
    ssim,
)


def photographs(people: int = 8, lights: int = 7, seed: int = 0) -> Photographs:
    """A person's picture is a sum of two light patterns, with the person's own weights: multilinear of rank two."""
    draw = np.random.default_rng(seed)
    of_person, of_light = draw.random((people, 2)), draw.random((lights, 2))
    patterns = draw.random((2, 2, 6, 5)) / 8
    x = np.einsum("pa,lb,abhw->plhw", of_person, of_light, patterns).reshape(-1, 6, 5)
    direction = draw.normal(size=(lights, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return Photographs(x, np.repeat(np.arange(people), lights), np.tile(direction, (people, 1)))


def split(faces: Photographs, seed: int = 1) -> tuple[Photographs, Photographs]:
    hidden = np.random.default_rng(seed).random(len(faces.x)) < 0.2
    return tuple(Photographs(faces.x[m], faces.person[m], faces.light[m]) for m in (~hidden, hidden))  # type: ignore[return-value]


def test_the_nearest_is_the_persons_own() -> None:
    known, asked = split(photographs())
    found = nearest_photograph(known, asked.person, asked.light)
    for image, person, light in zip(found, asked.person, asked.light, strict=True):
        own = [k for k in range(len(known.x)) if known.person[k] == person]
        best = max(own, key=lambda k: float(known.light[k] @ light))
        np.testing.assert_array_equal(image, known.x[best])


def test_the_mean_is_over_people_under_that_light() -> None:
    known, asked = split(photographs())
    found = mean_face(known, asked.person, asked.light)
    for image, light in zip(found, asked.light, strict=True):
        under = [known.x[k] for k in range(len(known.x)) if np.allclose(known.light[k], light, atol=1e-4)]
        np.testing.assert_allclose(image, sum(under) / len(under))


def test_a_multilinear_table_is_filled_in_exactly() -> None:
    faces = photographs()
    cells = faces.x.reshape(8, 7, 30)
    known = cells.copy()
    known[np.random.default_rng(1).random((8, 7)) < 0.15] = np.nan
    np.testing.assert_allclose(fill_in(known, 2, 2), cells, atol=5e-3)
    np.testing.assert_allclose(fill_in(cells, 8, 7), cells, atol=1e-9)  # full rank changes nothing


def test_the_multilinear_rival_is_ahead_where_the_world_is_multilinear() -> None:
    known, asked = split(photographs())
    errors = {
        name: ((rival(known, asked.person, asked.light) - asked.x) ** 2).mean()
        for name, rival in BASELINES.items()
    }
    assert min(errors, key=errors.__getitem__) == "multilinear analysis (person x light)"
    assert multilinear(known, asked.person, asked.light).shape == asked.x.shape


# ---- Likeness of images against loops over pixels and windows --------------------------------------------


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
