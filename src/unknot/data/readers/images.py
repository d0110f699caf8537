"""A folder of images as a data set: in memory, or, if they are large, decoded once into the cache.

The cache entry depends on the bytes of every file and their order. It appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.files.broken_file import READER_ERRORS, refuse_special_file
from unknot.data.files.directories import cache_directory
from unknot.data.files.stored_arrays import decoded_array
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.labels import folder_labels, folder_splits
from unknot.data.readers.read_options import ReadOptions
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError

_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".tif", ".tiff"}
_TOGETHER = 64  # images that are decoded between two writes


class _Colored(Exception):
    """An image has colors, where all before it were gray."""


def read_image_folder(folder: Path, options: ReadOptions) -> Dataset:
    """Read all images below a folder, in the order of their names.

    Labels and splits come from ``labels.csv`` or from sub-folders (:mod:`unknot.data.readers.labels`).
    """
    names, like = image_names(folder), options.like
    splits = folder_splits(names) or options.split(len(names))
    labels = folder_labels(folder, names, options, splits)
    channels = 0 if like is None or len(like.item_shape) != 3 else like.item_shape[0]
    return from_arrays(
        read_images([folder / name for name in names], channels, options),
        labels,
        kinds=options.kinds_of(labels),
        classes=options.classes_of(labels),
        splits=splits,
        name=folder.name,
    )


def image_names(folder: Path) -> list[str]:
    """Return the images below a folder, by their paths from it, in the order in which they are read."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _ENDINGS)
    if not paths:
        raise DataError(f"{folder} holds no images (PNG, JPEG, ...).")
    return [p.relative_to(folder).as_posix() for p in paths]


def has_images(folder: Path) -> bool:
    """Return whether there are images below a folder."""
    return any(p.suffix.lower() in _ENDINGS for p in folder.rglob("*"))


def read_images(paths: Sequence[Path], channels: int, options: ReadOptions) -> np.ndarray | StoredItems:
    """Read images of one size.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    channels : int
        3 for color; otherwise the images are gray if all are.
    options : ReadOptions
        Says whether the images stay in a file of the cache.

    Returns
    -------
    ndarray of uint8 or StoredItems, shape (N, C, H, W)
    """
    first = read_image(paths[0])
    if not options.should_memmap(len(paths) * first.size):
        return _in_memory(paths, first.shape, channels)
    name = str(cache_directory() / "decoded" / _digest(paths))
    asked = "-asked" if channels == 3 else ""  # gray images may have been asked for in color
    for count in (3,) if asked or Path(f"{name}-3.npy").exists() else (1, 3):
        shape = (len(paths), count, *first.shape[:2])
        chunks = partial(_decoded, paths, first.shape, count)
        try:
            return StoredItems([decoded_array(Path(f"{name}-{count}{asked}.npy"), shape, chunks)])
        except _Colored:
            continue
    raise AssertionError("an image has neither one channel nor three")


def read_image(path: Path) -> np.ndarray:
    """Read one image ``(H, W, 3)`` as uint8; images of more than 8 bits per color are refused."""
    from PIL import Image

    refuse_special_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                is_deep = image.mode.startswith(("I", "F"))
                pixels = np.asarray(image.convert("RGB"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{path} declares more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller."
        ) from None
    except (*READER_ERRORS, MemoryError):
        raise DataError(f"{path} cannot be read as an image.") from None
    if is_deep:
        raise DataError(
            f"{path} has more than 8 bits per color; convert it to 8 bits, or give the pixels as floats from 0 to 1 in "
            "an .npz file."
        )
    return pixels


def _in_memory(paths: Sequence[Path], shape: tuple[int, ...], channels: int) -> np.ndarray:
    for count in (3,) if channels == 3 else (1, 3):
        images = np.empty((len(paths), count, *shape[:2]), dtype=np.uint8)
        try:
            for i, part in enumerate(_decoded(paths, shape, count)):
                images[i * _TOGETHER : i * _TOGETHER + len(part)] = part
        except _Colored:
            continue
        return images
    raise AssertionError("an image has neither one channel nor three")


def _decoded(paths: Sequence[Path], shape: tuple[int, ...], channels: int) -> Iterator[np.ndarray]:
    """Yield blocks of images ``(n, C, H, W)``, all of one size."""
    for start in range(0, len(paths), _TOGETHER):
        images = []
        for path in paths[start : start + _TOGETHER]:
            images.append(read_image(path))
            if images[-1].shape != shape:
                other = images[-1].shape
                raise DataError(
                    f"images must have one size, but {paths[0].name} is {shape[1]}x{shape[0]} and {path.name} is "
                    f"{other[1]}x{other[0]}; resize them first."
                )
        stack = np.stack(images)  # (n, H, W, 3)
        if channels == 1 and not bool((stack[..., :1] == stack).all()):
            raise _Colored
        yield np.moveaxis(stack[..., :channels], -1, 1)


def _digest(paths: Sequence[Path]) -> str:
    """Return a digest of the content of files, in their order."""
    whole = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as stream:
                whole.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    return whole.hexdigest()[:32]
