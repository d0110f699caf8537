"""A folder of images, labelled by a table or by the sub-folders they lie in."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.files.broken_file import READER_ERRORS
from unknot.data.files.special_file import refuse_special_file
from unknot.data.from_arrays import from_arrays
from unknot.data.user.csv_table import read_labels, read_rows, wanted_names
from unknot.errors import DataError

LABELS = "labels.csv"
FOLDER_FACTOR = "label"  # what sub-folders say, where nobody names it
_PARTS = {"train", "test"}  # sub-folders that are the two splits
_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".tif", ".tiff"}


def read_image_folder(
    folder: Path,
    factors: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
    like: Dataset | None = None,
) -> Dataset:
    """All images below a folder, in the order of their names.

    Labels are those of ``labels.csv`` by file name, and images that it does not name are unlabelled. Without that
    table the sub-folders are the classes of one factor, and images beside them are unlabelled. Images below ``train``
    and ``test`` alone are the two splits.
    """
    names = image_names(folder)
    splits = _splits(names)
    labels = _labels(folder / LABELS, names, factors, like)
    if not (folder / LABELS).exists():
        labels = _folder_labels(folder, names, bool(splits), factors, like)
    kinds = {n: k for n, k in (kinds or {}).items() if n in labels}
    classes = {n: c for n, c in (classes or {}).items() if n in labels}
    colours = 0 if like is None or len(like.item_shape) != 3 else like.item_shape[0]
    images = _read_images([folder / name for name in names], colours)
    return from_arrays(images, labels, kinds=kinds, classes=classes, splits=splits, name=folder.name)


def image_names(folder: Path) -> list[str]:
    """The images below a folder, by their paths from it, in the order in which they are read."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _ENDINGS)
    if not paths:
        raise DataError(f"{folder} holds no images (PNG, JPEG, ...).")
    return [p.relative_to(folder).as_posix() for p in paths]


def _read_images(paths: Sequence[Path], colours: int) -> np.ndarray:
    """All images as one array (N, C, H, W) of uint8; grey if all are, unless ``colours`` is 3."""
    images: list[np.ndarray] = []
    for path in paths:
        images.append(_read_image(path))
        if images[-1].shape != images[0].shape:
            one, other = images[0].shape, images[-1].shape
            raise DataError(
                f"images must have one size, but {paths[0].name} is {one[1]}x{one[0]} and {path.name} is "
                f"{other[1]}x{other[0]}; resize them first."
            )
    stack = np.stack(images)  # (N, H, W, 3)
    grey = colours != 3 and bool((stack[..., :1] == stack).all())
    return np.moveaxis(stack[..., :1] if grey else stack, -1, 1)


def _read_image(path: Path) -> np.ndarray:
    """One image (H, W, 3) of uint8; what eight bits cannot hold is refused, not cut off."""
    from PIL import Image

    refuse_special_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                deep = image.mode.startswith(("I", "F"))
                pixels = np.asarray(image.convert("RGB"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{path} declares more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller."
        ) from None
    except (*READER_ERRORS, MemoryError):
        raise DataError(f"{path} cannot be read as an image.") from None
    if deep:
        raise DataError(
            f"{path} has more than 8 bits a pixel, which images of a folder have; convert it to 8 bits, or give the "
            "pixels as floats from 0 to 1 in an .npz file."
        )
    return pixels


def _labels(
    table: Path, names: Sequence[str], factors: Sequence[str] | None, like: Dataset | None
) -> dict[str, list[Any]]:
    if not table.exists():
        return {}
    content = read_rows(table)
    if "file" not in content:
        raise DataError(f"{table}: needs a column 'file' with the images' names.")
    row_of = {name: row for row, name in enumerate(content["file"])}
    if len(row_of) != len(content["file"]):
        raise DataError(f"{table} names an image twice.")
    there = set(names)
    for name in row_of:
        if name not in there:
            raise DataError(f"{table} speaks of {name}, which is not in the folder.")
    found = {}
    for factor in wanted_names(table, [n for n in content if n != "file"], factors, like):
        values = read_labels(content[factor])
        found[factor] = [values[row_of[name]] if name in row_of else None for name in names]
    return found


def _splits(names: Sequence[str]) -> dict[str, list[int]] | None:
    """The rows of the two splits, if all images lie below folders "train" and "test"."""
    parts = [name.split("/")[0] for name in names]
    if set(parts) != _PARTS:
        return None
    return {part: [row for row, of in enumerate(parts) if of == part] for part in sorted(_PARTS)}


def _folder_labels(
    folder: Path, names: Sequence[str], split: bool, factors: Sequence[str] | None, like: Dataset | None
) -> dict[str, list[Any]]:
    """One factor from the sub-folders that images lie in, if there are several."""
    parts = [name.split("/")[split:] for name in names]
    classes = [part[0] if len(part) > 1 else None for part in parts]
    known = list(like.factors) if like is not None else []
    named = list(factors) if factors else known[:1] or [FOLDER_FACTOR]
    if len(set(classes) - {None}) > 1 and len(named) == 1:
        return {named[0]: classes}
    if factors:
        raise DataError(
            f"{folder} has no {LABELS} and no sub-folder for each class, so there are no labels of "
            f"{', '.join(factors)}."
        )
    return {}
