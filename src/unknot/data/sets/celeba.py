"""CelebA, aligned and cropped (Liu et al. 2015): faces with 40 yes/no attributes and the person's number.

It is read from the published files (202599 images, 178 x 218), or from files that the user places in the data
directory: the first 10000 at half size, with their labels in one .npz; that data set is named "celeba-subset". Images
are cut to the central square, scaled, and decoded once into the cache.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import decoded_array, read_npz
from unknot.errors import DataError

_DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="
_CHUNK = 256  # images decoded at a time
_SPLITS = ("train", "validation", "test")  # 0, 1, 2 in list_eval_partition.txt


def _published(name: str, md5: str, drive_id: str, size: int | None = None) -> DataFile:
    return DataFile(name, f"md5:{md5}", size, (_DRIVE + drive_id,))


_FULL = Form(
    "published",
    (
        _published(
            "img_align_celeba.zip",
            "00d2c5bc6d35e252742224ab0c1e8fcb",
            "0B7EVK8r0v71pZjFTYXZWM3FlRnM",
            1443490838,
        ),
        _published(
            "list_attr_celeba.txt", "75e246fa4810816ffd6ee81facbd244c", "0B7EVK8r0v71pblRyaVFSWGxPY0U"
        ),
        _published(
            "identity_CelebA.txt", "32bd1bd63d3c78cd57e08160ec5ed1e2", "1_ee_0u7vcNLOfNLegJRHmolfH5ICW-XS"
        ),
        _published(
            "list_eval_partition.txt", "d32c9cbf5e040fd4025c592c306e6668", "0B7EVK8r0v71pY0NSMzRuSXJEVkk"
        ),
    ),
)
_SUBSET = Form(  # files that the user places; they are not published
    "first 10000",
    (
        DataFile(
            "celeba_first10000_89x109_jpeg.zip",
            "sha256:20181233426bbf9b11813189a8399d2142840fc079b4d4fbdeac10959ab50e7f",
            28622932,
        ),
        DataFile(
            "celeba_first10000_attributes.npz",
            "sha256:21413fc383dc15cd36df8d3c56131b2ef8f6ff5e097627f455775b9775ca526b",
            102314,
        ),
    ),
    note="subset: first 10000 of 202599, at half size",
)

ENTRY = Entry(
    name="celeba",
    title="CelebA, aligned",
    what="faces of celebrities",
    items="202599",
    shape="3x64x64 (size=64)",
    factors="40 attributes (yes/no), identity",
    licence="non-commercial research only",
    folder="celeba",
    forms=(_FULL, _SUBSET),
)


def build(files: Files, size: int = 64) -> Dataset:
    """Factors: the 40 attributes (binary, under CelebA's names) and ``identity``.

    Splits of the full set: the published ``train``, ``validation``, ``test``. The first 10000 all belong to the
    published train split, so the subset has its own: the first 9000 ``train``, the last 1000 ``test``.
    """
    if size < 1:
        raise DataError(f"celeba: size is the side of the images in pixels, at least 1, got {size}.")
    if files.form == _FULL:
        names, attributes, identity, jpegs, splits = _read_published(files)
    else:
        raw = read_npz(files[_SUBSET.files[1].name], "attributes", "names", "identity", "files")
        names, attributes, identity = raw["names"].tolist(), raw["attributes"], raw["identity"]
        jpegs = raw["files"].tolist()
        rows = torch.arange(len(jpegs))
        train = len(rows) - len(rows) // 10
        splits = {"train": rows[:train], "test": rows[train:]}
    people, person = np.unique(identity, return_inverse=True)
    factors = {
        n: Factor(n, "binary", torch.from_numpy(attributes[:, i].astype(np.int64)))
        for i, n in enumerate(names)
    }
    factors["identity"] = Factor(
        "identity", "categorical", torch.from_numpy(person.astype(np.int64)), tuple(str(p) for p in people)
    )
    images = decoded_array(
        files.cache / f"{files.first.stem}-{size}.npy",
        (len(jpegs), 3, size, size),
        lambda: _decoded_chunks(files.first, jpegs, size),
    )
    ids = torch.tensor([int(Path(name).stem) for name in jpegs])
    name = "celeba" if files.form == _FULL else "celeba-subset"
    return Dataset(name, torch.from_numpy(images), ids, factors, splits, files.entry.licence)


def _read_published(
    files: Files,
) -> tuple[list[str], np.ndarray, np.ndarray, list[str], dict[str, torch.Tensor]]:
    """Names (40), attributes (N, 40), identity (N,), file names (N), splits, from the three text files."""
    path = files["list_attr_celeba.txt"]
    with explain_broken_file(path, "CelebA's attribute list"):
        lines = path.read_text().splitlines()
        names = lines[1].split()
        rows = [line.split() for line in lines[2:]]  # 000001.jpg -1  1 -1 ...
        jpegs = [row[0] for row in rows]
        attributes = np.array([row[1:] for row in rows]).astype(np.int8) > 0
    identity = _read_column(files["identity_CelebA.txt"], jpegs)
    partition = torch.from_numpy(_read_column(files["list_eval_partition.txt"], jpegs))
    splits = {name: (partition == number).nonzero()[:, 0] for number, name in enumerate(_SPLITS)}
    return names, attributes, identity, jpegs, splits


def _read_column(path: Path, jpegs: list[str]) -> np.ndarray:
    """The number that a two-column text file gives for each image."""
    with explain_broken_file(path, "a list of image names and numbers"):
        table = dict(line.split() for line in path.read_text().splitlines() if line.strip())
        return np.array([int(table[name]) for name in jpegs])


def _decoded_chunks(path: Path, jpegs: list[str], size: int) -> Iterator[np.ndarray]:
    """The images in the order of ``jpegs``: central square, scaled; pieces (n, 3, size, size)."""
    from PIL import Image

    with explain_broken_file(path, "a zip of JPEG images"), zipfile.ZipFile(path) as archive:
        members = {Path(name).name: name for name in archive.namelist()}
        for start in range(0, len(jpegs), _CHUNK):
            chunk = np.empty((len(jpegs[start : start + _CHUNK]), 3, size, size), dtype=np.uint8)
            for row, name in enumerate(jpegs[start : start + _CHUNK]):
                with archive.open(members[name]) as stream, Image.open(stream) as image:
                    side = min(image.size)
                    left, top = (image.width - side) // 2, (image.height - side) // 2
                    square = image.convert("RGB").crop((left, top, left + side, top + side))
                    square = square.resize((size, size), Image.Resampling.BILINEAR)
                    chunk[row] = np.asarray(square).transpose(2, 0, 1)
            yield chunk
