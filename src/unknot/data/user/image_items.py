"""Images as items: in memory, or, if they are many, decoded once into the cache and read from there.

The cache goes by content: by the bytes of every file and their order. It appears whole, or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from unknot.data.files.decoded_array import decoded_array
from unknot.data.files.directories import cache_directory
from unknot.data.stored_items import StoredItems
from unknot.data.user.image_file import read_image
from unknot.data.user.in_a_file import stays_in_file
from unknot.errors import DataError

_TOGETHER = 64  # images that are decoded between two writes


class _Colored(Exception):
    """An image has colors, where all before it were gray."""


def read_images(paths: Sequence[Path], colors: int, mapped: bool | None = None) -> np.ndarray | StoredItems:
    """All images ``(N, C, H, W)`` as uint8; gray if all are, unless ``colors`` is 3."""
    first = read_image(paths[0])
    if not stays_in_file(len(paths) * first.size, mapped):
        return _whole(paths, first.shape, colors)
    name = str(cache_directory() / "decoded" / _digest(paths))
    asked = "-asked" if colors == 3 else ""  # gray images may have been asked for in color
    for channels in (3,) if asked or Path(f"{name}-3.npy").exists() else (1, 3):
        shape = (len(paths), channels, *first.shape[:2])
        chunks = partial(_decoded, paths, first.shape, channels)
        try:
            return StoredItems([decoded_array(Path(f"{name}-{channels}{asked}.npy"), shape, chunks)])
        except _Colored:
            continue
    raise AssertionError("an image has neither one channel nor three")


def _whole(paths: Sequence[Path], shape: tuple[int, ...], colors: int) -> np.ndarray:
    """In memory: gray as long as all are."""
    for channels in (3,) if colors == 3 else (1, 3):
        images = np.empty((len(paths), channels, *shape[:2]), dtype=np.uint8)
        try:
            for i, part in enumerate(_decoded(paths, shape, channels)):
                images[i * _TOGETHER : i * _TOGETHER + len(part)] = part
        except _Colored:
            continue
        return images
    raise AssertionError("an image has neither one channel nor three")


def _decoded(paths: Sequence[Path], shape: tuple[int, ...], channels: int) -> Iterator[np.ndarray]:
    """Images ``(n, C, H, W)``, some at a time, all of one size."""
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
    """Of the content of files, in their order."""
    whole = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as stream:
                whole.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    return whole.hexdigest()[:32]
