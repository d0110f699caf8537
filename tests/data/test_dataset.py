"""Data sets: parts, batches, fingerprints, training rows and columns."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.data.packing import packed as as_bits
from unknot.data.dataset import COLUMN_KINDS, Column, Dataset, training_rows
from unknot.data.factor import Factor
from unknot.errors import DataError


def make(n: int = 40, packed: bool = False) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 2, (n, 1, 3, 3), dtype=torch.uint8, generator=generator) * 255
    values = torch.randint(-1, 3, (n,), generator=generator)
    shape = Factor("shape", "categorical", values, ("a", "b", "c"))
    place = Factor("place", "continuous", torch.randn(n, 2, generator=generator))
    splits = {"train": torch.arange(30), "test": torch.arange(30, n)}
    pixels = as_bits(x) if packed else x
    return Dataset("toy", pixels, 100 + torch.arange(n), {"shape": shape, "place": place}, splits)


@pytest.mark.parametrize("packed", [False, True])
def test_subset_keeps_each_item_with_its_id_and_labels(packed):
    whole = make(packed=packed)
    rows = torch.tensor([35, 2, 17])
    part = whole.subset(rows)
    assert part.ids.tolist() == [135, 102, 117]
    assert torch.equal(part.x[:], whole.x[rows])
    assert torch.equal(part.factors["shape"].values, whole.factors["shape"].values[rows])
    assert torch.equal(part.factors["place"].values, whole.factors["place"].values[rows])
    assert len(whole.subset(torch.arange(40) < 5)) == 5
    assert part.subset([0]).ids.tolist() == [135]


def test_split_and_labeled():
    whole = make()
    assert whole.split("test").ids.tolist() == list(range(130, 140))
    assert whole.split("test").name == "toy/test"
    assert whole.labeled("shape").factors["shape"].known.all()
    assert len(whole.labeled("shape")) == int(whole.factors["shape"].known.sum()) < len(whole)
    with pytest.raises(DataError, match="no split 'extra'; it has train, test"):
        whole.split("extra")
    with pytest.raises(DataError, match="no factor 'color'; it has shape, place"):
        whole.factor("color")


def test_fingerprint_depends_on_items_and_not_on_labels():
    whole = make()
    stripped = dataclasses.replace(whole, factors={}, splits={}, name="other")
    assert whole.fingerprint() == make().fingerprint() == stripped.fingerprint()
    changed = whole.x.clone()
    changed[7, 0, 1, 1] ^= 255
    others = [
        dataclasses.replace(whole, x=changed),
        dataclasses.replace(whole, ids=whole.ids + 1),
        whole.subset(torch.arange(39)),
        whole.subset(torch.arange(39, -1, -1)),
    ]
    assert len({whole.fingerprint(), *(d.fingerprint() for d in others)}) == 5


def test_construction_refuses_what_does_not_fit():
    whole = make()
    with pytest.raises(DataError, match=r"ids are int64 of shape \(40,\)"):
        dataclasses.replace(whole, ids=whole.ids[:-1])
    with pytest.raises(DataError, match="share an id"):
        dataclasses.replace(whole, ids=torch.zeros(40, dtype=torch.int64))
    short = whole.factors["shape"].select(torch.arange(39))
    with pytest.raises(DataError, match="'shape' has 39 rows for 40 items"):
        dataclasses.replace(whole, factors={"shape": short})
    with pytest.raises(DataError, match="filed under 'form'"):
        dataclasses.replace(whole, factors={"form": whole.factors["shape"]})


def test_repr_tells_the_factors_and_splits():
    text = repr(make())
    assert "40 items of shape (1, 3, 3)" in text
    assert "shape: categorical, 3 classes" in text
    assert "train 30, test 10" in text


@pytest.mark.parametrize("packed", [False, True])
def test_to_keeps_everything(packed):
    whole = make(packed=packed)
    moved = whole.to("cpu")
    assert repr(moved) == repr(whole)
    assert moved.fingerprint() == whole.fingerprint()
    assert torch.equal(moved.factors["place"].values, whole.factors["place"].values)


def test_all_but_those_of_the_test() -> None:
    assert training_rows({"train": [0], "test": torch.tensor([1, 3])}, 4).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert training_rows({"train": [0, 1]}, 2).all()
    assert training_rows({"test": [0, 1]}, 2).all()  # there are no others


def test_columns_are_values_with_a_kind_and_classes() -> None:
    assert COLUMN_KINDS == ("real", "binary", "category", "count")
    assert Column("age", "real") == Column("age", "real", ())
    assert Column("town", "category", ("a", "b")) != Column("town", "category", ("b", "a"))
    assert len({Column("age", "real"), Column("age", "real")}) == 1
