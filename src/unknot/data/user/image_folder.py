"""A folder of images, labeled by a table or by the sub-folders they lie in."""

from __future__ import annotations

from pathlib import Path

from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.data.user.folder_labels import folder_labels, folder_splits
from unknot.data.user.image_items import read_images
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".tif", ".tiff"}


def read_image_folder(folder: Path, wanted: Wanted) -> Dataset:
    """All images below a folder, in the order of their names.

    Labels and splits are told by ``labels.csv`` or by sub-folders (:mod:`unknot.data.user.folder_labels`).
    """
    names, like = image_names(folder), wanted.like
    splits = folder_splits(names) or wanted.split(len(names))
    labels = folder_labels(folder, names, wanted.factors, like, wanted.kinds, splits)
    kinds, classes = wanted.kinds_of(labels), wanted.classes_of(labels)
    colors = 0 if like is None or len(like.item_shape) != 3 else like.item_shape[0]
    images = read_images([folder / name for name in names], colors, wanted.mapped)
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
