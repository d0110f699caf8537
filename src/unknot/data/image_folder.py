"""A folder of images with a table of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.csv_table import read_labels, read_rows
from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError

LABELS = "labels.csv"
_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".tif", ".tiff"}


def read_image_folder(
    folder: Path,
    factors: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
) -> Dataset:
    """All images below a folder, in the order of their names; labels by file name from ``labels.csv``.

    Images that the table does not name are unlabelled.
    """
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _ENDINGS)
    if not paths:
        raise DataError(f"{folder} holds no images (PNG, JPEG, ...).")
    names = [str(p.relative_to(folder)) for p in paths]
    labels = _labels(folder / LABELS, names, factors)
    kinds = {n: k for n, k in (kinds or {}).items() if n in labels}
    classes = {n: c for n, c in (classes or {}).items() if n in labels}
    return from_arrays(_read_images(paths), labels, kinds=kinds, classes=classes, name=folder.name)


def _read_images(paths: Sequence[Path]) -> np.ndarray:
    """All images as one array (N, C, H, W) of uint8; grey unless one of them has colours."""
    from PIL import Image, UnidentifiedImageError

    images = []
    for path in paths:
        try:
            with Image.open(path) as image:
                images.append(np.asarray(image.convert("RGB")))
        except (OSError, UnidentifiedImageError):
            raise DataError(f"{path} cannot be read as an image.") from None
        if images[-1].shape != images[0].shape:
            one, other = images[0].shape, images[-1].shape
            raise DataError(
                f"images must have one size, but {paths[0].name} is {one[1]}x{one[0]} and {path.name} is "
                f"{other[1]}x{other[0]}; resize them first."
            )
    stack = np.stack(images)  # (N, H, W, 3)
    grey = bool((stack[..., :1] == stack).all())
    return np.moveaxis(stack[..., :1] if grey else stack, -1, 1)


def _labels(table: Path, names: Sequence[str], factors: Sequence[str] | None) -> dict[str, list[Any]]:
    if not table.exists():
        return {}
    content = read_rows(table)
    if "file" not in content:
        raise DataError(f"{table}: needs a column 'file' with the images' names.")
    row_of = {name: row for row, name in enumerate(content["file"])}
    for name in row_of:
        if name not in set(names):
            raise DataError(f"{table} speaks of {name}, which is not in the folder.")
    wanted = [n for n in content if n != "file" and (factors is None or n in factors)]
    found = {}
    for factor in wanted:
        values = read_labels(content[factor])
        found[factor] = [values[row_of[name]] if name in row_of else None for name in names]
    return found
