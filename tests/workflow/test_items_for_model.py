"""New items for a trained model: numbers that mean what they meant in training, or a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from unknot import StructuredVAE
from unknot.data import Dataset, from_arrays
from unknot.errors import DataError
from unknot.workflow.items_for_model import items_for_model
from unknot.workflow.trained_model import TrainedModel

RNG = np.random.default_rng(0)
KIND = np.arange(40) % 2
COUNTS = RNG.poisson(0.03, (40, 300))


def fitted(x: Any, **settings: Any) -> TrainedModel:
    vae = StructuredVAE(steps=2, batch_size=20, verbose=False, verdict=False, **settings)
    return vae.fit(x, kind=KIND).trained_


def test_rows_are_numbers_whatever_their_type() -> None:
    """uint8 would be pixels, to be divided by 255; wide rows of whole numbers would be sparse counts."""
    numbers = RNG.integers(0, 255, (40, 4)).astype(np.uint8)
    model = fitted(numbers.astype(float))
    assert torch.equal(items_for_model(model, from_arrays(numbers)).x, torch.from_numpy(numbers).float())
    wide = fitted(COUNTS.astype(float))
    assert torch.equal(items_for_model(wide, from_arrays(COUNTS)).x, torch.from_numpy(COUNTS).float())


def test_counts_of_words_stay_sparse() -> None:
    items = from_arrays(COUNTS)
    assert items_for_model(fitted(COUNTS), items) is items


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (COUNTS * 0.5, "x holds 0.5, but the model weighs counts of words"),
        (-COUNTS, "fitted on counts, which are at least 0"),
        (COUNTS[:, 1:], "X has 299 features, but expecting 300"),
    ],
)
def test_what_are_no_counts_is_refused(x: np.ndarray, said: str) -> None:
    with pytest.raises(DataError, match=said):
        items_for_model(fitted(COUNTS), from_arrays(x))


def test_entries_that_a_column_cannot_hold_are_refused() -> None:
    rows = RNG.integers(0, 2, (40, 2)).astype(np.float32)
    model = fitted(rows, columns=["binary", "count"])
    items: Dataset = replace(from_arrays(rows + 0.5), table=model.data.table)
    with pytest.raises(DataError, match="entries of a binary column cannot be"):
        items_for_model(model, items)
