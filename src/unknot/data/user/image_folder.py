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
from unknot.data.user.folder_labels import folder_labels, folder_splits
from unknot.data.user.splitting import Splits, no_splits
from unknot.errors import DataError

_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".tif", ".tiff"}


def read_image_folder(
    folder: Path,
    factors: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
    like: Dataset | None = None,
    split: Splits = no_splits,
) -> Dataset:
    """All images below a folder, in the order of their names.

    Labels and splits are told by ``labels.csv`` or by sub-folders (:mod:`unknot.data.user.folder_labels`).
    """
    names = image_names(folder)
    splits = folder_splits(names) or split(len(names))
    labels = folder_labels(folder, names, factors, like, kinds, splits)
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


def has_images(folder: Path) -> bool:
    """Whether there are images below a folder."""
    return any(p.suffix.lower() in _ENDINGS for p in folder.rglob("*"))


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
