"""Texts and labels of a user's file as a data set: the words learned from it, or counted like those of other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.errors import DataError


def make_texts(
    path: Path,
    texts: Sequence[str],
    labels: Mapping[str, Any],
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
    options: Mapping[str, Any] | None,
    like: Dataset | None,
    splits: Mapping[str, Any] | None = None,
) -> TextDataset:
    """The data set; ``like`` a data set of texts, words are counted as there."""
    if like is not None and not isinstance(like, TextDataset):
        raise DataError(
            f"{path} holds texts, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    return from_texts(
        texts,
        labels,
        kinds={n: k for n, k in (kinds or {}).items() if n in labels},
        classes={n: c for n, c in (classes or {}).items() if n in labels},
        splits=splits,
        counter=None if like is None else like.counter,
        options=options,
        name=path.stem,
    )
