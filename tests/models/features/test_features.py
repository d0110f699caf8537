"""Features of every kind of data: finite, found again by name, the same after a round trip, blind to labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from unknot.data.dataset import Column, Dataset
from unknot.data.from_arrays import from_arrays
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import from_texts
from unknot.errors import SpecError
from unknot.models.features.columns import Columns
from unknot.models.features.features import FEATURES, Features, make_features
from unknot.models.features.pixels import Pixels
from unknot.models.features.series import Convolutions
from unknot.models.features.wide import Wide
from unknot.models.features.words import Words

N = 12


def table() -> Dataset:
    draw = np.random.default_rng(0)
    rows = np.stack([draw.normal(5, 3, N), draw.integers(0, 3, N).astype(float)], 1).astype(np.float32)
    rows[0, 0] = rows[1, 1] = np.nan
    columns = (Column("size", "real"), Column("color", "category", ("a", "b", "c")))
    return replace(from_arrays(rows, missing=True), table=columns)


def texts() -> Dataset:
    words = ["the red car stops", "the blue boat sails", "a red boat sinks", "blue cars stop"]
    return from_texts([f"{words[i % 4]} {i}" for i in range(N)])


def pictures() -> Dataset:
    return from_arrays(np.random.default_rng(0).integers(0, 256, (N, 3, 20, 24)).astype(np.uint8))


def wide_rows() -> Dataset:
    return from_arrays(np.random.default_rng(0).normal(size=(N, 600)).astype(np.float32))


def sparse_counts() -> Dataset:
    from scipy.sparse import random

    counts = random(N, 40, 0.2, random_state=0, data_rvs=lambda n: np.ones(n)).astype(np.int64)
    return Dataset("counts", SparseCounts.from_scipy(counts), torch.arange(N))


def series() -> Dataset:
    x = np.random.default_rng(0).normal(size=(N, 2, 30)).astype(np.float32).cumsum(2)
    x[0, :, 20:] = np.nan  # a shorter one
    x[1, 0, 3:6] = np.nan  # missing steps
    x[2, 1] = np.nan  # a missing channel
    return from_arrays(x)


CASES = {
    Columns: table,
    Words: texts,
    Pixels: pictures,
    Wide: wide_rows,
    Convolutions: series,
}


def items(data: Dataset) -> Tensor:
    return data.batch(range(len(data))).x


def dense(rows: Tensor) -> Tensor:
    return rows.to_dense() if rows.is_sparse else rows


@pytest.mark.parametrize("kind", CASES)
def test_the_first_that_suits_is_the_one_of_the_kind(kind: type[Features]) -> None:
    data = CASES[kind]()
    assert next(one for one in FEATURES.values() if one.suits(data)) is kind


def test_sparse_counts_without_words_have_wide_features() -> None:
    data = sparse_counts()
    assert next(one for one in FEATURES.values() if one.suits(data)) is Wide
    features = Wide.for_data(data)
    assert torch.equal(features(items(data)), features(items(data).to_dense()))


@pytest.mark.parametrize("kind", CASES)
def test_features_are_finite_and_of_their_size(kind: type[Features]) -> None:
    data = CASES[kind]()
    features = kind.for_data(data)
    rows = features(items(data))
    assert rows.shape == (N, features.size)
    assert bool(rows.isfinite().all())
    linear = features.linear_inputs(items(data), rows)
    assert linear.shape == (N, features.linear_size)
    assert bool(dense(linear).isfinite().all())
    assert float(rows.std(0).max()) > 0


@pytest.mark.parametrize("kind", CASES)
def test_features_of_an_item_do_not_depend_on_the_batch(kind: type[Features]) -> None:
    data = CASES[kind]()
    features = kind.for_data(data)
    one = features(data.batch([3]).x)
    same = torch.isclose(one[0], features(items(data))[3], rtol=1e-4, atol=1e-5)
    assert float(same.float().mean()) > 0.98  # a step whose convolution is at a threshold may count or not


@pytest.mark.parametrize("kind", CASES)
def test_a_round_trip_gives_the_same_bits(kind: type[Features]) -> None:
    data = CASES[kind]()
    features = kind.for_data(data)
    again = make_features(kind.name, features.settings)
    again.load_state_dict(features.state_dict())
    assert torch.equal(again(items(data)), features(items(data)))


@pytest.mark.parametrize("kind", CASES)
def test_labels_do_not_change_features(kind: type[Features]) -> None:
    data = CASES[kind]()
    labeled = from_arrays(torch.zeros(N, 1), {"label": np.arange(N) % 2}).factors
    one, other = kind.for_data(data), kind.for_data(replace(data, factors=labeled))
    assert all(torch.equal(a, b) for a, b in zip(one.buffers(), other.buffers(), strict=True))


def test_unknown_features_are_refused_by_name() -> None:
    with pytest.raises(SpecError, match="features 'smells' are unknown; there are"):
        make_features("smells", {})
