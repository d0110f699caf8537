"""Baselines of faces under other lights, from the labeled photographs alone; classifiers and similarities of faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_SCORED_COMPONENTS = 150


class FaceClassifier:
    """Predict person and light: linear discriminants and kernel ridge regression on principal components.

    It shares nothing with the models whose images it scores.
    """

    def __init__(self, known: Photographs) -> None:
        from sklearn.decomposition import PCA
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.pipeline import make_pipeline

        flat = known.x.reshape(len(known.x), -1)
        count = min(_SCORED_COMPONENTS, len(flat) - 1)
        discriminants = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        self._person: Any = make_pipeline(PCA(count, whiten=True, random_state=0), discriminants)
        self._light: Any = make_pipeline(
            PCA(count, whiten=True, random_state=0), KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3 / count)
        )
        self._person.fit(_leveled(flat), known.person)
        self._light.fit(_leveled(flat), known.light)

    def person(self, x: np.ndarray) -> np.ndarray:
        """Return the person in each image ``(N, H, W)``."""
        return np.asarray(self._person.predict(_leveled(x.reshape(len(x), -1))))

    def light(self, x: np.ndarray) -> np.ndarray:
        """Return the direction of the light of each image, unit vectors ``(N, 3)``."""
        found = self._light.predict(_leveled(x.reshape(len(x), -1)))
        # far from all training images the prediction is zero, a right angle from every direction
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))


def degrees_between(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return angles between unit vectors ``(N, 3)``, in degrees."""
    return np.degrees(np.arccos(np.clip((one * two).sum(-1), -1, 1)))


def _leveled(flat: np.ndarray) -> np.ndarray:
    """Return square roots of pixels relative to their mean, which do not depend on the brightness of the image."""
    return np.sqrt(np.clip(flat, 0, 1)) / np.sqrt(np.clip(flat, 0, 1) + 1e-6).mean(1, keepdims=True)


_SIGMA, _SIDE = 1.5, 5  # of the window: a Gaussian of 11 x 11 pixels
_K1, _K2 = 0.01, 0.03


def psnr(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return the peak signal-to-noise ratio of images ``(N, H, W)`` in decibels, ``-10 log10 mean (one - two)²``.

    The root mean square error is at least a hundredth of a gray level, so that equal images have a finite value.

    >>> float(psnr(np.zeros((1, 4, 4)), np.full((1, 4, 4), 0.1))[0].round(6))
    20.0
    """
    error = ((one - two) ** 2).reshape(len(one), -1).mean(-1)
    return np.asarray(-10 * np.log10(np.maximum(error, (0.01 / 255) ** 2)))


def ssim(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return the structural similarity (Wang et al. 2004, Eq. 13) of images ``(N, H, W)`` from 0 to 1: ``(N,)``.

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
    """Return means over the window at every position where it fits: ``(N, H - 10, W - 10)``."""
    from scipy.ndimage import gaussian_filter1d

    for axis in (1, 2):
        images = gaussian_filter1d(images, _SIGMA, axis=axis, radius=_SIDE)
    return images[:, _SIDE:-_SIDE, _SIDE:-_SIDE]


_RANKS_OF_PEOPLE, _RANKS_OF_LIGHTS = (3, 6, 12, 24), (3, 6, 9, 15)
_COMPONENTS = 200  # principal components of the photographs in the multilinear model
_ROUNDS = 30  # of imputation


@dataclass(frozen=True)
class Photographs:
    """Labeled photographs: ``x`` (N, H, W) from 0 to 1, ``person`` (N,), ``light`` (N, 3) unit vectors."""

    x: np.ndarray
    person: np.ndarray
    light: np.ndarray


def nearest_photograph(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Return for each person and light that person's photograph with the nearest light: ``(M, H, W)``."""
    cosine = light @ known.light.T  # (M, N)
    cosine[person[:, None] != known.person[None]] = -2.0
    return known.x[cosine.argmax(1)]


def mean_face(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Return for each light the mean photograph under the nearest light: ``(M, H, W)``."""
    lights, under = np.unique(known.light.round(5), axis=0, return_inverse=True)
    means = np.stack([known.x[under.reshape(-1) == k].mean(0) for k in range(len(lights))])
    return means[(light @ lights.T).argmax(1)]


def multilinear(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Multilinear analysis of people and lights (Vasilescu & Terzopoulos 2002).

    The table people x lights x pixels is projected on its leading people and lights; missing entries are imputed by
    repeated projection. The ranks minimize the error on a fifth of the known cells.
    """
    flat = known.x.reshape(len(known.x), -1)
    center = flat.mean(0)
    _, _, axes = np.linalg.svd(flat - center, full_matrices=False)
    axes = axes[:_COMPONENTS]
    lights, under = np.unique(known.light.round(5), axis=0, return_inverse=True)
    people = int(max(known.person.max(), person.max())) + 1
    cells = np.full((people, len(lights), len(axes)), np.nan)
    cells[known.person, under.reshape(-1)] = (flat - center) @ axes.T
    filled = fill_in(cells, *_best_ranks(cells))
    found = filled[person, (light @ lights.T).argmax(1)] @ axes + center
    return np.clip(found, 0, 1).reshape(-1, *known.x.shape[1:])


def fill_in(cells: np.ndarray, people: int, lights: int) -> np.ndarray:
    """Impute NaN in cells ``(P, L, D)`` by a table of multilinear rank (people, lights)."""
    there = ~np.isnan(cells[..., 0])
    table = _additive(cells, there)
    for _ in range(_ROUNDS):
        table[there] = cells[there]
        of_people = _leading(table, people)
        of_lights = _leading(table.swapaxes(0, 1), lights)
        table = np.einsum("pq,lm,qmd->pld", of_people, of_lights, table, optimize=True)
    return table


def _additive(cells: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return initial values: the sum of the effects of lights and people."""
    overall = cells[there].mean(0)
    guess = np.zeros_like(cells) + overall
    for axis in (0, 1):
        other = 1 - axis
        count = there.sum(other)[:, None]
        offset = np.where(there[..., None], cells - overall, 0.0).sum(other) / np.maximum(count, 1)
        guess = guess + np.expand_dims(offset, other)
    return guess


def _leading(table: np.ndarray, rank: int) -> np.ndarray:
    """Return the projection on the leading directions of the first axis: ``(P, P)``."""
    flat = table.reshape(len(table), -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    leading = vectors[:, -rank:]
    return leading @ leading.T


def _best_ranks(cells: np.ndarray) -> tuple[int, int]:
    """Return the ranks with the smallest error on a fifth of the known cells."""
    known = np.argwhere(~np.isnan(cells[..., 0]))
    hidden = known[np.random.default_rng(0).permutation(len(known))[: len(known) // 5]]
    shown = cells.copy()
    shown[hidden[:, 0], hidden[:, 1]] = np.nan
    truth = cells[hidden[:, 0], hidden[:, 1]]

    def error(ranks: tuple[int, int]) -> float:
        return float(((fill_in(shown, *ranks)[hidden[:, 0], hidden[:, 1]] - truth) ** 2).mean())

    return min(((p, m) for p in _RANKS_OF_PEOPLE for m in _RANKS_OF_LIGHTS), key=error)


Baseline = Callable[[Photographs, np.ndarray, np.ndarray], np.ndarray]
BASELINES: dict[str, Baseline] = {
    "nearest photograph of the person": nearest_photograph,
    "mean face under the light": mean_face,
    "multilinear analysis (person x light)": multilinear,
}
