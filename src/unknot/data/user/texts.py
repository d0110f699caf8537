"""Texts and labels of a user's file as a data set: the words learned from it, or counted like those of other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unknot.data.text_dataset import TextDataset, from_texts
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError


def make_texts(
    path: Path,
    texts: Sequence[str],
    labels: Mapping[str, Any],
    wanted: Wanted,
    splits: Mapping[str, Any] | None = None,
) -> TextDataset:
    """The data set; words are counted as in the texts that it is to be like, or as ``wanted``."""
    like = wanted.like
    if like is not None and not isinstance(like, TextDataset):
        raise DataError(
            f"{path} holds texts, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    return from_texts(
        texts,
        labels,
        kinds=wanted.kinds_of(labels),
        classes=wanted.classes_of(labels),
        splits=splits,
        counter=None if like is None else like.counter,
        options=wanted.text,
        name=path.stem,
    )
