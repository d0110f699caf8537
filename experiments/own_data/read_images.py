"""Pictures of own-data: digits, garments, house numbers, faces, solar cells and sprites."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import numpy as np

from experiments.own_data.items import Items, labeled, packaged
from unknot.data.dataset import Dataset
from unknot.data.sets.loading import load

MOST = 2600
_LIGHTS = (-20.0, 20.0)  # degrees: from the left, the front or the right


def pictures(name: str, factor: str, keep: Collection[int] = (), unequal: bool = False) -> Items:
    """Return a random part of a data set, with a factor; ``unequal``: five classes, each half the one before."""
    data = load(name)
    values = np.asarray(data.factor(factor).values)
    rows = np.random.default_rng(0).permutation(len(values))
    if keep:
        rows = rows[np.isin(values[rows], list(keep))]
    if unequal:
        shares = 0.5 ** np.arange(5)
        counts = (MOST * shares / shares.sum()).astype(int)
        rows = np.concatenate([rows[values[rows] == k][:count] for k, count in enumerate(counts)])
    rows = np.sort(rows[:MOST])
    return labeled(_pixels(data, rows), values[rows].tolist())


def _pixels(data: Dataset, rows: np.ndarray) -> np.ndarray:
    import torch

    return np.asarray(data.x[torch.from_numpy(rows)], np.uint8)


def lights() -> Items:
    """Return the faces of Yale B, and whether the light comes from the left, the front or the right."""
    data = load("yale-b")
    side = np.digitize(np.asarray(data.factor("azimuth").values), _LIGHTS)
    return labeled(np.asarray(data.x, np.uint8), side.tolist())


def solar_cells(column: int) -> Items:
    """Return photographs of solar cells, and by column the grade of their defects or the material."""
    folder = packaged("elpv-dataset", "elpv_dataset/data")
    lines = [line.split() for line in (folder / "labels.csv").read_text().splitlines()]
    x = np.stack([_gray(folder / line[0]) for line in lines])
    return labeled(x[:, None], [line[column] for line in lines])


def _gray(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as opened:
        return np.asarray(opened.convert("L"))


def faces_or_not() -> Items:
    """Return 100 faces and 100 other cutouts of 25 x 25 pixels."""
    x = np.load(packaged("scikit-image", "skimage/data/lfw_subset.npy"))
    return labeled((255 * x[:, None]).round().astype(np.uint8), ["face"] * 100 + ["other"] * 100)


_READERS: dict[str, Callable[[], Items]] = {
    "digits 8 x 8": partial(pictures, "digits", "digit"),
    "MNIST": partial(pictures, "mnist", "digit"),
    "MNIST 3, 5, 8": partial(pictures, "mnist", "digit", (3, 5, 8)),
    "MNIST, unequal": partial(pictures, "mnist", "digit", unequal=True),
    "Fashion-MNIST": partial(pictures, "fashion-mnist", "garment"),
    "Fashion-MNIST tops": partial(pictures, "fashion-mnist", "garment", (0, 2, 3, 4, 6)),
    "SVHN": partial(pictures, "svhn", "digit"),
    "Olivetti faces": partial(pictures, "olivetti", "identity"),
    "solar cells: grade": partial(solar_cells, 1),
    "solar cells: material": partial(solar_cells, 2),
    "CelebA: smiling": partial(pictures, "celeba", "Smiling"),
    "CelebA: male": partial(pictures, "celeba", "Male"),
    "CelebA: black hair": partial(pictures, "celeba", "Black_Hair"),
    "CelebA: wavy hair": partial(pictures, "celeba", "Wavy_Hair"),
    "Yale B: person": partial(pictures, "yale-b", "identity"),
    "Yale B: light": lights,
    "dSprites: shape": partial(pictures, "dsprites", "shape"),
    "dSprites: scale": partial(pictures, "dsprites", "scale"),
    "faces or not": faces_or_not,
}


def read_images(name: str) -> Items:
    """Return pictures ``(N, C, H, W)`` of uint8 and their classes."""
    return _READERS[name]().at_most(MOST)
