"""Texts, and counts of words as scipy has them, as users hand them to a StructuredVAE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.errors import DataError


def is_texts(x: Any) -> bool:
    """Whether x is a list, an array or a column of strings."""
    if isinstance(x, str | bytes):
        raise DataError("x is one text; give a list of texts, one an item.")
    if not isinstance(x, list | tuple) and getattr(x, "ndim", 0) != 1:
        return False
    if isinstance(x, np.ndarray) and x.dtype.kind not in "OU":
        return False
    words = [isinstance(text, str) for text in x]
    if any(words) and not all(words):
        row = words.index(False)
        raise DataError(f"x is texts, but item {row} is {list(x)[row]!r}; give '' for an empty one.")
    return any(words)


def read_texts(x: Any, options: Mapping[str, Any] | None, known: Dataset | None = None) -> TextDataset:
    """Texts as counts of their words, learned now or like those of ``known`` data."""
    counter = known.counter if isinstance(known, TextDataset) else None
    return from_texts([str(text) for text in x], counter=counter, options=options)


def is_sparse_counts(x: Any) -> bool:
    """Whether x is a sparse matrix of scipy that holds whole numbers."""
    return hasattr(x, "toarray") and x.dtype.kind in "iu" and len(x.shape) == 2 and min(x.shape) > 0


def read_sparse_counts(x: Any) -> Dataset:
    """A sparse matrix of whole numbers as counts of words, which stay sparse."""
    counts = SparseCounts.from_scipy(x)
    return Dataset("counts", counts, torch.arange(len(counts)))
