"""Rivals: by loops over photographs, and exactly where the faces are what a rival takes them for."""

from __future__ import annotations

import numpy as np

from experiments.faces.face_baselines import (
    RIVALS,
    Photographs,
    fill_in,
    mean_face,
    multilinear,
    nearest_photograph,
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
        for name, rival in RIVALS.items()
    }
    assert min(errors, key=errors.__getitem__) == "multilinear analysis (person x light)"
    assert multilinear(known, asked.person, asked.light).shape == asked.x.shape
