"""Whatever a user brings is understood, or refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from unknot import StructuredVAE
from unknot.data.dataset import Column
from unknot.errors import DataError, SpecError
from unknot.estimator.input import read_items, with_labels, words

RNG = np.random.default_rng(0)
PIXELS = RNG.random((30, 8, 8))


def small(**settings: Any) -> StructuredVAE:
    return StructuredVAE(**{"model": "class_style", "steps": 3, "style": 2, "verbose": False, **settings})


def test_nan_in_a_plain_array_is_missing() -> None:
    x = RNG.normal(5, 3, (40, 3))
    x[::4, 1] = np.nan
    vae = small().fit(x, kind=np.arange(40) % 2)
    assert [column.kind for column in vae.trained_.data.table] == ["real"] * 3
    assert np.isfinite(vae.transform(x)).all()
    complete = small().fit(np.nan_to_num(x), kind=np.arange(40) % 2)
    with pytest.raises(DataError, match="x has gaps or words, but the model was fitted on complete numbers"):
        complete.predict(x, errors="raise")


def test_what_is_masked_out_is_missing() -> None:
    numbers = np.ma.MaskedArray(RNG.normal(size=(30, 2)), mask=np.arange(60).reshape(30, 2) % 7 == 0)
    assert torch.equal(read_items(numbers).x.isnan(), torch.from_numpy(numbers.mask))
    assert not read_items(np.ma.MaskedArray(numbers.data)).table
    words = np.ma.MaskedArray(["a", "b", "c"] * 10, mask=[True, False, False] * 10)[:, None]
    assert read_items(words).table[0].classes == ("b", "c")


def test_tensors_that_numpy_has_not() -> None:
    x = torch.tensor([[0.5, 0.0], [0.0, -2.0]])
    for given in (x.bfloat16(), x.to_sparse(), x.clone().requires_grad_()):
        assert torch.equal(torch.as_tensor(read_items(given).x), x)


def test_sparse_numbers_are_made_dense() -> None:
    numbers = sparse.random(30, 12, 0.3, format="csr", random_state=0)
    np.testing.assert_allclose(read_items(numbers).x.numpy(), numbers.toarray(), rtol=1e-6)
    with pytest.raises(DataError, match="too large to be made dense"):
        read_items(sparse.csr_matrix((2**20, 2**20)))


def test_images_as_nhwc_floats_are_refused_with_the_remedy() -> None:
    for x in (np.stack([PIXELS] * 3, -1), (255 * PIXELS[..., None]).astype(np.uint8)):
        with pytest.raises(DataError, match=r"x.transpose\(0, 3, 1, 2\)"):
            read_items(x)


def test_images_of_floats_above_1_are_refused() -> None:
    for images in (255 * PIXELS[:, None], 255 * PIXELS):
        with pytest.raises(DataError, match="images of floats are from 0 to 1, but x reaches"):
            read_items(images)
    assert read_items(255 * PIXELS.reshape(30, -1)).x.shape == (30, 64)  # rows of numbers


def test_grey_images_of_floats_get_their_channel() -> None:
    assert read_items(PIXELS).x.shape == read_items(PIXELS[:, None]).x.shape == (30, 1, 8, 8)
    assert read_items(torch.from_numpy(PIXELS)).x.shape == (30, 1, 8, 8)


def test_other_sizes_and_scales_than_fitted_are_refused() -> None:
    vae = small().fit(PIXELS, kind=np.arange(30) % 2)
    with pytest.raises(
        DataError, match=r"shape \(1, 4, 4\), but the model was fitted on \(1, 8, 8\); resize"
    ):
        vae.predict(PIXELS[:, :4, :4])
    rows = small().fit(PIXELS.reshape(30, 64), kind=np.arange(30) % 2)
    with pytest.raises(DataError, match="x holds 16, but the model was fitted on values from 0 to 1"):
        rows.predict(np.full((2, 64), 16.0))
    with pytest.raises(DataError, match="X has 3 features, but expecting 64"):
        rows.predict(np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["style", "x", "y", "self", "n", "two words"])
def test_factors_may_be_called_as_our_own_names(name: str) -> None:
    vae = small().fit(PIXELS, **{name: np.arange(30) % 3})
    assert list(vae.factors_) == [name]
    assert vae.predict(PIXELS).shape == (30,)
    assert vae.sample(2, {name: 1}).shape == (2, 1, 8, 8)
    assert vae.score(PIXELS, **{name: np.arange(30) % 3}) >= 0


def test_items_keep_their_numbers() -> None:
    x = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_allclose(read_items(x).batch(range(6)).x.numpy(), x, rtol=1e-6)
    images = read_items(np.zeros((4, 8, 8), np.uint8))
    assert images.item_shape == (1, 8, 8)


def test_labels_of_a_name_that_nobody_gave() -> None:
    with pytest.raises(SpecError, match="kinds names 'size', but no such labels were given"):
        with_labels(read_items(np.zeros((3, 2))), {}, {"size": "count"})


def test_rows_speak_their_words() -> None:
    table = (Column("age", "real"), Column("color", "category", ("red", "blue")))
    spoken = words(table, np.array([[30.0, 1.0], [40.0, 0.0]]))
    assert spoken.tolist() == [[30.0, "blue"], [40.0, "red"]]
    plain = np.zeros((2, 1))
    assert words(table[:1], plain) is plain
