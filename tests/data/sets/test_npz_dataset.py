"""A data set goes into one file and comes back the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.data.packing import packed
from unknot.data import Dataset, Factor
from unknot.data.sets.npz_dataset import read_npz_dataset, write_npz
from unknot.errors import DataError


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
