"""The real files, where UNKNOT_DATA names a folder that has them: facts that are published about each set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from unknot.data import PackedBits, load
from unknot.data.files.sources import verify
from unknot.data.sets import yale_b
from unknot.data.sets.loading import entries
from unknot.data.text_dataset import TextDataset

MNIST_TRAIN = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


def test_every_file_that_is_there_has_its_checksum(real_data: Path) -> None:
    reports = {entry.name: verify(entry, real_data, entries()).state for entry in entries()}
    assert "bad" not in reports.values()
    assert reports["digits"] == "OK"


def present(name: str, folder: Path) -> None:
    entry = next(entry for entry in entries() if entry.name == name)
    if verify(entry, folder, entries()).state == "missing":
        pytest.skip(f"needs the files of {name} in UNKNOT_DATA")


def test_mnist(real_data: Path) -> None:
    present("mnist", real_data)
    dataset = load("mnist", real_data, download=False)
    train, test = dataset.split("train"), dataset.split("test")
    assert train.factor("digit").values.bincount().tolist() == MNIST_TRAIN
    assert test.factor("digit").values[:5].tolist() == [7, 2, 1, 0, 4]
    assert abs(float(train.x.float().mean()) / 255 - 0.1307) < 1e-4  # the published mean


def test_fashion_mnist(real_data: Path) -> None:
    present("fashion-mnist", real_data)
    train = load("fashion-mnist", real_data, download=False).split("train")
    assert train.factor("garment").values.bincount().tolist() == [6000] * 10
    assert abs(float(train.x.float().mean()) / 255 - 0.2860) < 1e-4


def test_svhn(real_data: Path) -> None:
    present("svhn", real_data)
    dataset = load("svhn", real_data, download=False)
    sizes = {name: len(rows) for name, rows in dataset.splits.items()}
    expected = {"svhn": {"train": 73257, "test": 26032}, "svhn-subset": {"train": 20000, "test": 10000}}
    assert sizes == expected[dataset.name]
    assert dataset.factor("digit").values[:6].tolist() == [1, 9, 2, 3, 2, 5]


def test_yale_b(real_data: Path) -> None:
    present("yale-b", real_data)
    dataset = load("yale-b", real_data, download=False)
    assert len(dataset) == 2414
    assert dataset.item_shape == (1, 96, 84)
    assert len(load("yale-b", real_data, download=False, include_bad=True)) == 2432
    near = load("yale-b", real_data, download=False, include_bad=True, max_angle=85)
    assert near.factor("identity").values.bincount().tolist() == [45] * 38  # S17, after Jampani et al.
    # Light from the right brightens the side of the face that shows left of the middle, or the other way
    # round: either way the difference of the halves follows the light's x.
    brightness = near.x.float().mean(dim=2)[:, 0]  # (N, 84)
    lean = brightness[:, :42].mean(1) - brightness[:, 42:].mean(1)
    side = near.factor("light").values[:, 0]
    assert abs(torch.corrcoef(torch.stack([lean, side]))[0, 1]) > 0.8


def test_newsgroups(real_data: Path) -> None:
    present("20news", real_data)
    dataset = load("20news", real_data, download=False)
    assert {name: len(rows) for name, rows in dataset.splits.items()} == {"train": 11258, "test": 7487}
    assert len(dataset.columns) == 1995
    assert int(dataset.x[:][:, 0].sum()) == 0  # the placeholder word
    hockey = dataset.subset(
        dataset.factor("group").values == dataset.factor("group").classes.index("rec.sport.hockey")
    )
    top = hockey.x[:].sum(0).topk(5).indices.tolist()
    assert {"game", "team"} <= {dataset.columns[word] for word in top}


@pytest.mark.slow
def test_newsgroups_text_agrees_with_the_counts(real_data: Path) -> None:
    present("20news-text", real_data)
    present("20news", real_data)
    text = load("20news-text", real_data, download=False, words=500)
    assert isinstance(text, TextDataset)
    counts = load("20news", real_data, download=False)
    assert {name: len(rows) for name, rows in text.splits.items()} == {"train": 11314, "test": 7532}
    group_of = dict(zip(text.ids.tolist(), text.factor("group").values.tolist(), strict=True))
    groups = [group_of[item] for item in counts.ids.tolist()]  # the ids are the same in both
    assert groups == counts.factor("group").values.tolist()


@pytest.mark.slow
def test_celeba(real_data: Path) -> None:
    present("celeba", real_data)
    dataset = load("celeba", real_data, download=False)
    assert dataset.item_shape == (3, 64, 64)
    assert dataset.ids[0] == 1
    assert sum(factor.kind == "binary" for factor in dataset.factors.values()) == 40
    # Blond hair makes the top of the picture brighter than black hair does.
    top = dataset.x[:, :, :16].float().mean(dim=(1, 2, 3))
    blond, black = (dataset.factor(name).values == 1 for name in ("Blond_Hair", "Black_Hair"))
    assert top[blond].mean() > top[black].mean() + 10


@pytest.mark.slow
def test_dsprites(real_data: Path) -> None:
    present("dsprites", real_data)
    dataset = load("dsprites", real_data, download=False)
    assert isinstance(dataset.x, PackedBits)
    assert dataset.x.shape == (737280, 1, 64, 64)
    sizes = {name: factor.num_classes for name, factor in dataset.factors.items()}
    assert sizes == {"shape": 3, "scale": 6, "orientation": 40, "posX": 32, "posY": 32}
    codes = torch.stack([factor.values for factor in dataset.factors.values()], dim=1)
    steps = torch.tensor([6 * 40 * 32 * 32, 40 * 32 * 32, 32 * 32, 32, 1])
    assert torch.equal((codes * steps).sum(1), torch.arange(737280))  # lexicographic order
    rows = torch.tensor([0, 31, 31 * 32])  # posX and posY at their ends
    images = dataset.x[rows][:, 0].float()
    grid = torch.arange(64.0)
    x = (images.sum(1) * grid).sum(1) / images.sum((1, 2))
    y = (images.sum(2) * grid).sum(1) / images.sum((1, 2))
    assert x[0] == x[1] < x[2]
    assert y[0] == y[2] < y[1]


def test_yale_b_arrays_are_what_other_forms_are_compared_with(real_data: Path) -> None:
    present("yale-b", real_data)
    raw = np.load(real_data / "yaleb" / "yaleb_96x84.npz")
    assert yale_b._digest(raw["images"]) == yale_b._PIXELS_DIGEST
    labels = [raw[name] for name in ("identity", "azimuth", "elevation", "bad")]
    assert yale_b._digest(*labels) == yale_b._LABELS_DIGEST
