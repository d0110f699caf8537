"""Data sets that are computed rather than read: Multi-MNIST from MNIST, and scikit-learn's own digits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.catalogue import Entry, Files
from unknot.data.files.directories import advising_cache, cache_directory
from unknot.data.files.stored_arrays import open_npz
from unknot.data.sets import mnist
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.errors import DataError
from unknot.files import atomic_file, lock


def write_npz(path: Path, dataset: Dataset) -> None:
    """Write a data set into one file, without pickle; packed images and sparse counts are not supported."""
    if not isinstance(dataset.x, Tensor):
        raise DataError(
            f"{dataset.name}: packed images and sparse counts cannot be written to {path.name}; unpack a subset first."
        )
    about = {
        "name": dataset.name,
        "licence": dataset.licence,
        "columns": dataset.columns,
        "factors": [(f.name, f.kind, f.classes) for f in dataset.factors.values()],
    }
    tensors = {"x": dataset.x, "ids": dataset.ids}
    tensors |= {f"factor.{f.name}": f.values for f in dataset.factors.values()}
    tensors |= {f"split.{name}": rows for name, rows in dataset.splits.items()}
    arrays: dict[str, Any] = {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
    with atomic_file(path) as stream:
        np.savez(stream, about=np.array(json.dumps(about)), **arrays)


def read_npz_dataset(path: Path) -> Dataset:
    """Read the data set that :func:`write_npz` wrote."""
    with explain_broken_file(path, "a data set"), open_npz(path) as archive:
        about = json.loads(str(archive["about"]))
        factors = {}
        for name, kind, classes in about["factors"]:
            values = torch.from_numpy(archive[f"factor.{name}"])
            factors[name] = Factor(name, kind, values, None if classes is None else tuple(classes))
        splits = {
            key.removeprefix("split."): torch.from_numpy(archive[key])
            for key in archive.files
            if key.startswith("split.")
        }
        x, ids = torch.from_numpy(archive["x"]), torch.from_numpy(archive["ids"])
        return Dataset(about["name"], x, ids, factors, splits, about["licence"], tuple(about["columns"]))


# ---- digits: scikit-learn's 8x8 digits, the data set that needs no file and no network -------------------

TEST_SHARE = 0.2  # 360 of 1797


def load_digits() -> Dataset:
    """1797 gray images ``(1, 8, 8)`` of handwritten digits, factor ``digit``; 1437 train and 360 test.

    The gray levels 0..16 are spread over 0..255. The split is fixed and keeps the shares of the digits.
    """
    from sklearn.datasets import load_digits as bundled
    from sklearn.model_selection import train_test_split

    images, labels = bundled(return_X_y=True)
    gray = np.round(images * (255 / 16)).astype(np.uint8).reshape(-1, 1, 8, 8)
    rows = np.arange(len(labels))
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=labels, random_state=0)
    digit = Factor(
        "digit", "categorical", torch.from_numpy(labels.astype(np.int64)), tuple(str(d) for d in range(10))
    )
    return Dataset(
        name="digits",
        x=torch.from_numpy(gray),
        ids=torch.arange(len(labels)),
        factors={"digit": digit},
        splits={"train": torch.from_numpy(np.sort(train)), "test": torch.from_numpy(np.sort(test))},
        licence="CC BY 4.0 (E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI)",
    )


RECIPE = 1  # to be raised when make_multi_mnist draws other canvases from the same arguments

MULTI_MNIST = Entry(
    name="multi-mnist",
    title="Multi-MNIST",
    what="1 to 3 MNIST digits on one canvas",
    items="82000 (n=82000)",
    shape="1x50x50 (canvas=50)",
    factors="count, digit_1..3 (10), place_1..3 (x, y, scale)",
    licence="as MNIST",
    folder=mnist.ENTRY.folder,
    forms=mnist.ENTRY.forms,
    made_from="mnist",
)

DIGITS = Entry(
    name="digits",
    title="Digits",
    what="small handwritten digits",
    items="1437 + 360",
    shape="1x8x8",
    factors="digit (10)",
    licence="CC BY 4.0",
    made_from="scikit-learn",
)


def build_multi_mnist(
    files: Files,
    n: int = 82000,
    seed: int = 0,
    canvas: int = 50,
    counts: Sequence[int] = (1, 2, 3),
    apart: bool = True,
    with_sources: bool = False,
) -> Dataset:
    """Draw canvases of MNIST digits, or read them from the cache, where each choice of options is kept.

    Parameters
    ----------
    files : Files
        The files of MNIST.
    n : int, default=82000
        The number of canvases.
    seed : int, default=0
        The seed of the draws.
    canvas : int, default=50
        The side of a canvas, in pixels.
    counts : sequence of int, default=(1, 2, 3)
        The possible numbers of digits.
    apart : bool, default=True
        Whether digits must not overlap.
    with_sources : bool, default=False
        Whether to add the factors ``source_1``, ..., rows of MNIST.

    Returns
    -------
    Dataset
        Factors ``count``, ``digit_1``..., ``place_1``...; splits ``train`` and ``test`` from those of MNIST.
    """
    kind = "-".join(str(count) for count in counts)
    folder = cache_directory() / "multi-mnist"
    options = ("" if apart else "_overlapping") + ("_sources" if with_sources else "")
    path = folder / f"recipe{RECIPE}_n{n}_seed{seed}_canvas{canvas}_counts{kind}{options}.npz"
    with advising_cache(), lock(folder / f".{path.name}.lock"):
        try:
            return read_npz_dataset(path)
        except DataError:  # missing or damaged
            source = mnist.build(files)
            splits = dict(source.splits)
            digits = source.factor("digit").values
            made = make_multi_mnist(
                source.x, digits, n, seed, canvas, counts, splits, apart=apart, with_sources=with_sources
            )
            write_npz(path, made)
            return made


def build_digits() -> Dataset:
    """Return the digits: factor ``digit``; a fixed split into ``train`` (1437) and ``test`` (360)."""
    return load_digits()
