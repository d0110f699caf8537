"""A folder of images as a data set: in memory, or, if they are large, decoded once into the cache.

The cache entry depends on the bytes of every file and their order. It appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.files.broken_file import READER_ERRORS, refuse_special_file
from unknot.data.files.directories import cache_directory
from unknot.data.files.stored_arrays import decoded_array
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.labels import folder_labels, folder_splits
from unknot.data.readers.picture_size import PictureSize, choose_size, resize
from unknot.data.readers.read_options import ReadOptions
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

_ORIENTATION = 0x0112  # the EXIF tag
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
    paths = [folder / name for name in names]
    channels = 0 if like is None or len(like.item_shape) != 3 else like.item_shape[0]
    size = options.picture_size([image_size(path) for path in paths])
    data = from_arrays(
        read_images(paths, channels, options, size),
        labels,
        kinds=options.kinds_of(labels),
        classes=options.classes_of(labels),
        splits=splits,
        name=folder.name,
    )
    return replace(data, resized_from=size.resized_from)


def image_names(folder: Path) -> list[str]:
    """Return the images below a folder, by their paths from it, in the order in which they are read."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _ENDINGS)
    if not paths:
        raise DataError(f"{folder} holds no images (PNG, JPEG, ...).")
    return [p.relative_to(folder).as_posix() for p in paths]


def has_images(folder: Path) -> bool:
    """Return whether there are images below a folder."""
    return any(p.suffix.lower() in _ENDINGS for p in folder.rglob("*"))


def read_images(
    paths: Sequence[Path], channels: int, options: ReadOptions, size: PictureSize | None = None
) -> np.ndarray | StoredItems:
    """Read images at one size.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    channels : int
        3 for color; otherwise the images are gray if all are.
    options : ReadOptions
        Says whether the images stay in a file of the cache.
    size : PictureSize, optional
        The size; by default :func:`~unknot.data.readers.picture_size.choose_size` of the files.

    Returns
    -------
    ndarray of uint8 or StoredItems, shape (N, C, H, W)
    """
    size = size or choose_size([image_size(path) for path in paths])
    if not options.should_memmap(len(paths) * size.height * size.width * 3):
        return _in_memory(paths, size, channels)
    resized = f"-{size.height}x{size.width}" if size.resized_from else ""
    name = f"{cache_directory() / 'decoded' / _digest(paths)}{resized}"
    asked = "-asked" if channels == 3 else ""  # gray images may have been asked for in color
    for count in (3,) if asked or Path(f"{name}-3.npy").exists() else (1, 3):
        shape = (len(paths), count, size.height, size.width)
        chunks = partial(_decoded, paths, size, count)
        try:
            return StoredItems([decoded_array(Path(f"{name}-{count}{asked}.npy"), shape, chunks)])
        except _Colored:
            continue
    raise AssertionError("an image has neither one channel nor three")


def image_size(path: Path) -> tuple[int, int]:
    """Return height and width of an image, as it is shown, without decoding its pixels."""
    with _opened(path) as image:
        width, height = image.size
        return (width, height) if _is_turned(image) else (height, width)


def read_image(path: Path, size: PictureSize | None = None) -> np.ndarray:
    """Read one image ``(H, W, 3)`` as uint8, by default as large as it is.

    Images of more than 8 bits per color are refused. Photographs that a camera has marked as turned are turned upright.
    """
    from PIL import ImageOps

    with _opened(path) as image:
        is_deep = image.mode.startswith(("I", "F"))
        if size is not None and size.resized_from and not is_deep:
            image.draft(
                "RGB", (4 * size.width, 4 * size.height)
            )  # decodes a large JPEG at a part of its size
        upright = ImageOps.exif_transpose(image) if _is_turned(image) else image
        pixels = np.asarray(upright.convert("RGB"))
    if is_deep:
        raise DataError(
            f"{path} has more than 8 bits per color; convert it to 8 bits, or give the pixels as floats from 0 to 1 in "
            "an .npz file."
        )
    return pixels if size is None else resize(pixels, size.height, size.width)


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    """Open an image; whatever goes wrong, also while it is decoded, is a DataError that names the file."""
    from PIL import Image

    refuse_special_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                yield image
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{path} declares more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller."
        ) from None
    except (*READER_ERRORS, MemoryError):
        raise DataError(f"{path} cannot be read as an image.") from None


def _is_turned(image: Image) -> bool:
    """Whether a photograph is stored on its side; other formats than JPEG do not say so in their header."""
    return image.format in ("JPEG", "MPO") and image.getexif().get(_ORIENTATION, 1) in range(5, 9)


def _in_memory(paths: Sequence[Path], size: PictureSize, channels: int) -> np.ndarray:
    for count in (3,) if channels == 3 else (1, 3):
        images = np.empty((len(paths), count, size.height, size.width), dtype=np.uint8)
        try:
            for i, part in enumerate(_decoded(paths, size, count)):
                images[i * _TOGETHER : i * _TOGETHER + len(part)] = part
        except _Colored:
            continue
        return images
    raise AssertionError("an image has neither one channel nor three")


def _decoded(paths: Sequence[Path], size: PictureSize, channels: int) -> Iterator[np.ndarray]:
    """Yield blocks of images ``(n, C, H, W)``."""
    for start in range(0, len(paths), _TOGETHER):
        stack = np.stack(
            [read_image(path, size) for path in paths[start : start + _TOGETHER]]
        )  # (n, H, W, 3)
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
