"""Data sets that are computed: Multi-MNIST and its file, and the digits of scikit-learn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from sklearn.datasets import load_digits as bundled

from tests.data.found_files import found
from tests.data.packing import packed
from tests.data.sets.idx_files import write_set
from unknot.data import Dataset, Factor
from unknot.data.files.catalogue import Files
from unknot.data.sets import computed
from unknot.data.sets.computed import load_digits, read_npz_dataset, write_npz
from unknot.errors import DataError


def small_mnist(folder: Path) -> Files:
    write_set(folder, "")
    return found(computed.MULTI_MNIST, "idx", folder)


def test_multi_mnist_is_kept_and_remade_when_damaged(tmp_path: Path, cache: Path) -> None:
    files = small_mnist(tmp_path)
    made = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    assert made.name == "multi-mnist"
    assert made.x.shape == (20, 1, 40, 40)
    assert set(made.splits) == {"train", "test"}
    (kept,) = (cache / "multi-mnist").glob("*.npz")
    before = kept.stat().st_mtime_ns
    again = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    assert kept.stat().st_mtime_ns == before
    kept.write_bytes(kept.read_bytes()[:-500])
    remade = computed.build_multi_mnist(files, n=20, canvas=40, counts=(1, 2))
    for other in (again, remade):
        assert torch.equal(other.x, made.x)
        assert torch.equal(other.factor("digit_2").values, made.factor("digit_2").values)
        assert other.factor("digit_1").classes == made.factor("digit_1").classes
        assert other.fingerprint() == made.fingerprint()


def test_other_options_are_kept_apart(tmp_path: Path, cache: Path) -> None:
    files = small_mnist(tmp_path)
    one = computed.build_multi_mnist(files, n=10, seed=1)
    two = computed.build_multi_mnist(files, n=10, seed=2)
    assert not torch.equal(one.x, two.x)
    assert len(list((cache / "multi-mnist").glob("*.npz"))) == 2


def test_images_labels_and_split():
    data = load_digits()
    images, labels = bundled(return_X_y=True)
    assert data.x.shape == (1797, 1, 8, 8)
    assert (int(data.x.min()), int(data.x.max())) == (0, 255)
    assert torch.equal((data.x.flatten(1) / 255 * 16).round(), torch.from_numpy(images).float())
    assert data.factors["digit"].values.tolist() == labels.tolist()
    train, test = data.split("train"), data.split("test")
    assert (len(train), len(test)) == (1437, 360)
    assert sorted(train.ids.tolist() + test.ids.tolist()) == list(range(1797))


def test_the_split_is_fixed_and_keeps_the_shares():
    test = load_digits().split("test")
    assert test.ids[:5].tolist() == load_digits().split("test").ids[:5].tolist()
    counts = test.factors["digit"].values.bincount()
    assert (counts - load_digits().factors["digit"].values.bincount() * 0.2).abs().max() < 1


def test_round_trip(tmp_path: Path) -> None:
    factors = {
        "kind": Factor("kind", "categorical", torch.tensor([0, -1, 1]), ("a", "b")),
        "angle": Factor("angle", "continuous", torch.tensor([[0.5, 1.0], [float("nan")] * 2, [2.0, 3.0]])),
        "many": Factor("many", "count", torch.tensor([0, 5, -1])),
    }
    x = torch.arange(6, dtype=torch.int16).reshape(3, 2)
    splits = {"train": torch.tensor([0, 2]), "test": torch.tensor([1])}
    dataset = Dataset("toy", x, torch.tensor([4, 2, 9]), factors, splits, "MIT", ("left", "right"))
    write_npz(tmp_path / "toy.npz", dataset)
    back = read_npz_dataset(tmp_path / "toy.npz")
    assert (back.name, back.licence, back.columns) == ("toy", "MIT", ("left", "right"))
    assert torch.equal(back.x, x)
    assert back.ids.tolist() == [4, 2, 9]
    for name, factor in factors.items():
        assert (back.factors[name].kind, back.factors[name].classes) == (factor.kind, factor.classes)
        torch.testing.assert_close(back.factors[name].values, factor.values, equal_nan=True)
    assert {name: rows.tolist() for name, rows in back.splits.items()} == {"train": [0, 2], "test": [1]}


def test_refusals(tmp_path: Path) -> None:
    bits = packed(torch.ones(2, 1, 4, 4))
    with pytest.raises(DataError, match="packed images and sparse counts cannot be written"):
        write_npz(tmp_path / "x.npz", Dataset("bits", bits, torch.arange(2)))
    (tmp_path / "x.npz").write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match=r"x\.npz cannot be read as a data set"):
        read_npz_dataset(tmp_path / "x.npz")
