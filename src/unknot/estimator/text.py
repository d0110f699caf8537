"""Texts and sparse counts of words as data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.errors import DataError


def is_texts(x: Any) -> bool:
    """Return whether x is a list, an array or a column of strings."""
    if isinstance(x, str | bytes):
        raise DataError("x is one text; give a list of texts, one per item.")
    items = _as_list(x)
    is_text = [isinstance(item, str) for item in items]
    if any(is_text) and not all(is_text):
        row = is_text.index(False)
        raise DataError(f"x is texts, but item {row} is {items[row]!r}; give '' for an empty one.")
    return any(is_text)


def read_texts(x: Any, options: Mapping[str, Any] | None, known: Dataset | None = None) -> TextDataset:
    """Return texts as counts of words; the vocabulary is learned, or that of ``known`` data."""
    counter = known.counter if isinstance(known, TextDataset) else None
    return from_texts([str(text) for text in _as_list(x)], counter=counter, options=options)


def _as_list(x: Any) -> list[Any]:
    """Return the items of a list, of a column of a frame, or of an array of objects; of other data none."""
    if isinstance(x, list | tuple):
        return list(x)
    if nw.dependencies.is_into_series(x):
        return nw.from_native(x, series_only=True).to_list()
    return x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "OU" else []


def is_sparse_counts(x: Any) -> bool:
    """Return whether x is a sparse matrix of scipy with whole numbers."""
    return hasattr(x, "toarray") and x.dtype.kind in "iu" and len(x.shape) == 2 and min(x.shape) > 0


def read_sparse_counts(x: Any) -> Dataset:
    """Return a sparse matrix of whole numbers as counts of words, which stay sparse."""
    counts = SparseCounts.from_scipy(x)
    return Dataset("counts", counts, torch.arange(len(counts)))
