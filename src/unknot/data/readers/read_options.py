"""ReadOptions: what is asked of a user's file, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import DeclaredKind
from unknot.data.label_column import Classes
from unknot.data.readers.picture_size import PictureSize, Size, choose_size
from unknot.errors import DataError

Splits = Callable[[int], Mapping[str, Tensor]]  # from the number of items to the rows of each split

LARGE = 1 << 28  # bytes of decoded data above which they stay in a file


def no_splits(size: int) -> Mapping[str, Tensor]:
    """Return no splits: all items together."""
    return {}


def share_for_testing(share: float, seed: int) -> Splits:
    """Return a function from the number of items to random "train" and "test" rows; no splits if the share is 0."""

    def split(size: int) -> Mapping[str, Tensor]:
        if share == 0.0:
            return {}
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
            raise DataError(f"test_share is a fraction between 0 and 1, but got {share}.")
        order = torch.randperm(size, generator=torch.Generator().manual_seed(seed))
        tested = max(1, round(share * size))
        if tested >= size:
            raise DataError(f"test_share {share:g} of {size} items leaves none to train on.")
        return {"train": order[tested:].sort().values, "test": order[:tested].sort().values}

    return split


@dataclass(frozen=True)
class ReadOptions:
    """Which labels of a file are read and how, and how its items are.

    Attributes
    ----------
    factors : sequence of str, optional
        The names of the labels; None leaves it to the kind of file.
    kinds, classes : mapping
        Kinds and classes of some factors, by name (:func:`unknot.data.from_arrays`).
    raters : mapping from factor to sequence of str
        The columns of a table that hold what the raters of a factor report.
    columns : mapping from column to kind
        The kinds of a table's columns.
    text : mapping, optional
        How words are counted (:meth:`unknot.data.word_counter.WordCounter.learn`).
    like : Dataset, optional
        Data whose classes, columns and words the new data share.
    split : callable
        From the number of items to the rows of each split.
    mapped : bool, optional
        Whether items stay in a file until a batch needs them; None: if they are large.
    errors : {"warn", "raise"}, optional
        Cells of new data that do not fit ``like`` (:func:`unknot.data.readers.column_kinds.read_columns`).
    size : int, sequence of int or str, optional
        The size of pictures (:func:`unknot.data.readers.picture_size.choose_size`); that of ``like`` where it is given.
    layer : str
        The layer of AnnData that holds the counts; "" is ``X``.
    unlabeled : sequence of str
        Labels of AnnData that stand for an unknown one, beside "Unknown".
    """

    factors: Sequence[str] | None = None
    kinds: Mapping[str, DeclaredKind] = field(default_factory=dict)
    classes: Mapping[str, Classes] = field(default_factory=dict)
    raters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    text: Mapping[str, Any] | None = None
    like: Dataset | None = None
    split: Splits = no_splits
    mapped: bool | None = None
    errors: str | None = None
    size: Size = None
    layer: str = ""
    unlabeled: Sequence[str] = ()

    @property
    def named_factors(self) -> Sequence[str] | None:
        """The factors of a file whose labels look like its data: those that are named, or those of ``like``."""
        return self.factors or (None if self.like is not None else ())

    def kinds_of(self, labels: Container[str]) -> dict[str, DeclaredKind]:
        """Return the kinds of the labels that the file has."""
        return {name: kind for name, kind in self.kinds.items() if name in labels}

    def classes_of(self, labels: Container[str]) -> dict[str, Classes]:
        """Return the classes of the labels that the file has."""
        return {name: classes for name, classes in self.classes.items() if name in labels}

    def should_memmap(self, size: int) -> bool:
        """Return whether data of ``size`` bytes, decoded, stay in a file.

        >>> ReadOptions().should_memmap(47_000_000), ReadOptions().should_memmap(4_000_000_000)
        (False, True)
        >>> ReadOptions(mapped=True).should_memmap(100)
        True
        """
        return size > LARGE if self.mapped is None else self.mapped

    def picture_size(self, found: Collection[tuple[int, int]]) -> PictureSize:
        """Return the size at which pictures of the sizes ``found`` (height, width) are read."""
        shape = () if self.like is None else tuple(self.like.item_shape)
        return choose_size(found, shape[1:] if len(shape) == 3 else self.size)
