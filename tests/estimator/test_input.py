"""What users hand over, as data sets."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.data.column import Column
from unknot.errors import SpecError
from unknot.estimator.input import read_items, with_labels, words


def test_items_keep_their_numbers() -> None:
    x = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_allclose(read_items(x).batch(range(6)).x.numpy(), x, rtol=1e-6)
    images = read_items(np.zeros((4, 8, 8), np.uint8))
    assert images.item_shape == (1, 8, 8)


def test_labels_of_a_name_that_nobody_gave() -> None:
    with pytest.raises(SpecError, match="kinds speaks of 'size', but no such labels were given"):
        with_labels(read_items(np.zeros((3, 2))), {}, {"size": "count"})


def test_rows_speak_their_words() -> None:
    table = (Column("age", "real"), Column("colour", "category", ("red", "blue")))
    spoken = words(table, np.array([[30.0, 1.0], [40.0, 0.0]]))
    assert spoken.tolist() == [[30.0, "blue"], [40.0, "red"]]
    plain = np.zeros((2, 1))
    assert words(table[:1], plain) is plain
