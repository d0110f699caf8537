"""What one would do without a model: faces of a person under a light, from the labeled photographs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_RANKS_OF_PEOPLE, _RANKS_OF_LIGHTS = (3, 6, 12, 24), (3, 6, 9, 15)
_COMPONENTS = 200  # of the photographs, in which the multilinear model is fitted
_ROUNDS = 30  # of filling in what is missing


@dataclass(frozen=True)
class Photographs:
    """Labeled photographs: ``x`` (N, H, W) from 0 to 1, ``person`` (N,), ``light`` (N, 3) unit vectors."""

    x: np.ndarray
    person: np.ndarray
    light: np.ndarray


def nearest_photograph(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """For each person and light, that person's photograph whose light is nearest: ``(M, H, W)``."""
    cosine = light @ known.light.T  # (M, N)
    cosine[person[:, None] != known.person[None]] = -2.0
    return known.x[cosine.argmax(1)]


def mean_face(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """For each light, the mean of all people's photographs under the nearest one that any has: ``(M, H, W)``."""
    lights, under = np.unique(known.light.round(5), axis=0, return_inverse=True)
    means = np.stack([known.x[under.reshape(-1) == k].mean(0) for k in range(len(lights))])
    return means[(light @ lights.T).argmax(1)]


def multilinear(known: Photographs, person: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Multilinear analysis of people and lights (Vasilescu & Terzopoulos 2002), read at each person and light.

    The table people x lights x pixels is projected on its leading people and lights; what is missing in it is filled
    in by the projection, again and again. The ranks are those that best fill in a fifth of the known cells.
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
    """Cells ``(P, L, D)``, missing ones NaN, as a table of multilinear rank (people, lights)."""
    there = ~np.isnan(cells[..., 0])
    table = _additive(cells, there)
    for _ in range(_ROUNDS):
        table[there] = cells[there]
        of_people = _leading(table, people)
        of_lights = _leading(table.swapaxes(0, 1), lights)
        table = np.einsum("pq,lm,qmd->pld", of_people, of_lights, table, optimize=True)
    return table


def _additive(cells: np.ndarray, there: np.ndarray) -> np.ndarray:
    """A first guess: each light's mean and each person's, as far as they have any."""
    overall = cells[there].mean(0)
    guess = np.zeros_like(cells) + overall
    for axis in (0, 1):
        other = 1 - axis
        count = there.sum(other)[:, None]
        offset = np.where(there[..., None], cells - overall, 0.0).sum(other) / np.maximum(count, 1)
        guess = guess + np.expand_dims(offset, other)
    return guess


def _leading(table: np.ndarray, rank: int) -> np.ndarray:
    """The projection on the leading directions of the table's first axis: ``(P, P)``."""
    flat = table.reshape(len(table), -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    leading = vectors[:, -rank:]
    return leading @ leading.T


def _best_ranks(cells: np.ndarray) -> tuple[int, int]:
    """The ranks that best fill in a fifth of the known cells."""
    known = np.argwhere(~np.isnan(cells[..., 0]))
    hidden = known[np.random.default_rng(0).permutation(len(known))[: len(known) // 5]]
    shown = cells.copy()
    shown[hidden[:, 0], hidden[:, 1]] = np.nan
    truth = cells[hidden[:, 0], hidden[:, 1]]

    def error(ranks: tuple[int, int]) -> float:
        return float(((fill_in(shown, *ranks)[hidden[:, 0], hidden[:, 1]] - truth) ** 2).mean())

    return min(((p, m) for p in _RANKS_OF_PEOPLE for m in _RANKS_OF_LIGHTS), key=error)


Rival = Callable[[Photographs, np.ndarray, np.ndarray], np.ndarray]
RIVALS: dict[str, Rival] = {
    "nearest photograph of the person": nearest_photograph,
    "mean face under the light": mean_face,
    "multilinear analysis (person x light)": multilinear,
}
