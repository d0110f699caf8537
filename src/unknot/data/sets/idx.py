"""The idx format of MNIST and its relatives: a big-endian header (magic, sizes), then uint8 values."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import Archive, DataFile, Files, Form

_UINT8 = 0x08  # the only element type these data sets use
NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def read_idx(path: Path) -> np.ndarray:
    """The array in an idx file, gzip-compressed or not."""
    with explain_broken_file(path, "an idx file"):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if len(content) < 4 or content[:3] != bytes([0, 0, _UINT8]):
            raise ValueError("it does not begin with the idx header")
        axes = content[3]
        shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4).astype(int)
        return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes).reshape(*shape).copy()


def compressed_form(sha256: tuple[str, ...], sizes: tuple[int, ...], mirrors: tuple[str, ...]) -> Form:
    """The four gzip files as published; ``mirrors`` are the folders that offer them."""
    files = (
        DataFile(f"{name}.gz", f"sha256:{digest}", size, tuple(f"{mirror}{name}.gz" for mirror in mirrors))
        for name, digest, size in zip(NAMES, sha256, sizes, strict=True)
    )
    return Form("idx, gzip", tuple(files))


def unpacked_form(
    sha256: tuple[str, ...],
    sizes: tuple[int, ...],
    archive: Archive | None = None,
    members: tuple[str, ...] = (),
) -> Form:
    """The four files without compression; some package archives carry them so."""
    members = members or ("",) * len(NAMES)
    files = (
        DataFile(name, f"sha256:{digest}", size, archive=archive, member=member)
        for name, digest, size, member in zip(NAMES, sha256, sizes, members, strict=True)
    )
    return Form("idx", tuple(files))


def build_idx(files: Files, factor: str, classes: tuple[str, ...]) -> Dataset:
    """Images (70000, 1, 28, 28) with one categorical factor; ids and rows: train first, then test."""
    arrays = {name.split(".")[0]: read_idx(path) for name, path in files.paths.items()}
    train_x, train_y, test_x, test_y = (torch.from_numpy(arrays[name]) for name in NAMES)
    x = torch.cat([train_x, test_x])[:, None]  # (N, 1, 28, 28) uint8
    y = torch.cat([train_y, test_y]).long()
    rows = torch.arange(len(x))
    splits = {"train": rows[: len(train_x)], "test": rows[len(train_x) :]}
    factors = {factor: Factor(factor, "categorical", y, classes)}
    return Dataset(files.entry.name, x, rows.clone(), factors, splits, files.entry.licence)
