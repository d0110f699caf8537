"""Dataset: items, their ids, factors and splits, and the columns of tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from unknot.data.batch import Batch, any_known, epoch_order, iterate, supervised_order, take
from unknot.data.factor import Factor
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import PackedBits, StoredItems
from unknot.errors import DataError

# ---- Which rows may tell what the data are: not those that are kept for the test -------------------------


def training_rows(splits: Mapping[str, Any], size: int) -> np.ndarray:
    """Return the rows outside the split "test", bool ``(N,)``; all rows if there are no others.

    >>> training_rows({"train": [0, 1], "test": [2]}, 3)
    array([ True,  True, False])
    """
    rows = np.ones(size, dtype=bool)
    if "test" in splits and len(splits["test"]) < size:
        rows[np.asarray(splits["test"])] = False
    return rows


# ---- Column: what one column of a table holds ------------------------------------------------------------

ColumnKind = Literal["real", "binary", "category", "count"]
COLUMN_KINDS: tuple[str, ...] = get_args(ColumnKind)


@dataclass(frozen=True)
class Column:
    """Name and kind of a table's column; the classes of a category in the order of their numbers.

    ``reads`` says how cells become numbers (:mod:`unknot.data.readers.written_cells`), and ``source`` of which
    column of the user, if not of the one of the same name: a date becomes several columns.
    """

    name: str
    kind: ColumnKind
    classes: tuple[str, ...] = ()
    reads: str = ""
    source: str = ""

    @property
    def origin(self) -> str:
        """The user's column."""
        return self.source or self.name

    @property
    def needs_words(self) -> bool:
        """Whether cells are read from their words, not as plain numbers."""
        return self.kind == "category" or bool(self.reads)


@dataclass(frozen=True)
class Dataset:
    """Items with their labels.

    Parameters
    ----------
    name : str
        The name in messages.
    x : Tensor, PackedBits, SparseCounts or StoredItems, shape (N, ...)
        The items. Images are ``(N, C, H, W)``, with C = 1 for gray and 3 for color, and stay uint8 until the batch,
        which scales them to [0, 1]. Binary images may be ``PackedBits``, counts of words ``SparseCounts``, whose
        batches are sparse; ``StoredItems`` stay in a file until the batch. Other types reach the batch as float32 with
        their values unchanged.
    ids : Tensor of int64, shape (N,)
        One number per item, which it keeps in every ``subset``.
    factors : mapping from name to Factor
        The labels, each with N rows.
    splits : mapping from name to Tensor
        The rows of "train", "test", "validation" or "extra".
    licence : str
        What its authors allow.
    columns : tuple of str
        The names of x's columns, for instance the words of a vocabulary; empty for images.
    table : tuple of Column
        The kinds of columns, if x is a table, in which NaN is a missing cell.
    odd_rows : tuple of int
        Rows of new data that could not be read whole, which are given no predictions.
    resized_from : str
        Of pictures that were resized, the sizes that they had.
    given : mapping from name to Factor
        What is known of every item beside it and is never predicted, as its batch, its donor or its dose.
    """

    name: str
    x: Tensor | PackedBits | SparseCounts | StoredItems
    ids: Tensor
    factors: Mapping[str, Factor] = field(default_factory=dict)
    splits: Mapping[str, Tensor] = field(default_factory=dict)
    licence: str = ""
    columns: tuple[str, ...] = ()
    table: tuple[Column, ...] = ()
    odd_rows: tuple[int, ...] = ()
    resized_from: str = ""
    given: Mapping[str, Factor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.x)
        if self.ids.shape != (n,) or self.ids.dtype != torch.int64:
            raise DataError(
                f"{self.name}: ids are int64 of shape ({n},), got {self.ids.dtype} {tuple(self.ids.shape)}."
            )
        if len(self.ids.unique()) != n:
            raise DataError(f"{self.name}: two items share an id; every item needs its own.")
        for name in self.given.keys() & self.factors.keys():
            raise DataError(f"{self.name}: '{name}' is both a label and given; name it once.")
        for name, factor in {**self.factors, **self.given}.items():
            if name != factor.name:
                raise DataError(f"{self.name}: the factor '{factor.name}' is filed under '{name}'.")
            if len(factor) != n:
                raise DataError(f"{self.name}: factor '{name}' has {len(factor)} rows for {n} items.")

    def __len__(self) -> int:
        return len(self.x)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.x)

    @property
    def item_shape(self) -> torch.Size:
        return self.x.shape[1:]

    @property
    def device(self) -> torch.device:
        return self.x.device

    def factor(self, name: str) -> Factor:
        """Return the factor called ``name``."""
        if name not in self.factors:
            raise DataError(
                f"{self.name} has no factor '{name}'; it has {', '.join(self.factors) or 'none'}."
            )
        return self.factors[name]

    def split(self, name: str) -> Dataset:
        """Return the split called ``name`` as a data set, for instance ``split("train")``."""
        if name not in self.splits:
            there = ", ".join(self.splits) or "none"
            raise DataError(f"{self.name} has no split '{name}'; it has {there}.")
        return replace(self.subset(self.splits[name]), name=f"{self.name}/{name}")

    def subset(self, rows: Tensor | Sequence[int]) -> Dataset:
        """Return the items in the given ``rows`` (or of a bool mask), without splits."""
        rows = torch.as_tensor(rows, device=self.device)
        rows = rows.nonzero()[:, 0] if rows.dtype == torch.bool else rows.long()
        x = self.x.index_select(0, rows) if isinstance(self.x, Tensor) else self.x.select(rows)
        factors = {name: f.select(rows) for name, f in self.factors.items()}
        given = {name: f.select(rows) for name, f in self.given.items()}
        ids = self.ids.index_select(0, rows)
        return replace(self, x=x, ids=ids, factors=factors, given=given, splits={}, odd_rows=())

    def labeled(self, factor: str) -> Dataset:
        """Return the items that have a label of the ``factor``."""
        return self.subset(self.factor(factor).known)

    def to(self, device: torch.device | str) -> Dataset:
        """Return the data on another ``device``, where batches are made."""
        return replace(
            self,
            x=self.x.to(device),
            ids=self.ids.to(device),
            factors={name: f.to(device) for name, f in self.factors.items()},
            given={name: f.to(device) for name, f in self.given.items()},
            splits={name: rows.to(device) for name, rows in self.splits.items()},
        )

    def fingerprint(self) -> str:
        """Return 32 hexadecimal digits that depend on the items and their order, and not on the labels.

        A label budget stores it, so that it cannot be used with other data. It is computed from all ids and from 256
        evenly spaced items.
        """
        digest = hashlib.sha256(f"{tuple(self.x.shape)} {self.x.dtype}".encode())
        digest.update(self.ids.cpu().numpy().tobytes())
        rows = torch.linspace(0, max(len(self) - 1, 0), min(256, len(self)), dtype=torch.float64).long()
        digest.update(self.x[rows.to(self.device)].contiguous().cpu().numpy().tobytes())
        return digest.hexdigest()[:32]

    def batch(self, rows: Tensor | Sequence[int]) -> Batch:
        """Return the batch of the given ``rows`` (positions in the data set, not ids)."""
        return take(self, torch.as_tensor(rows, dtype=torch.int64, device=self.device))

    def batches(
        self,
        batch_size: int,
        shuffle: bool = True,
        *,
        seed: int | None = None,
        generator: torch.Generator | None = None,
        drop_last: bool = False,
        device: torch.device | str | None = None,
        labeled_share: float | None = None,
        labeled_by: str | Sequence[str] | None = None,
    ) -> Iterator[Batch]:
        """Iterate over the batches of one epoch, in which every item occurs once.

        Parameters
        ----------
        batch_size : int
            Items per batch.
        shuffle : bool, default=True
            Whether items come in a new random order, or in the order of the rows.
        seed : int, optional
            The seed of the order.
        generator : torch.Generator, optional
            The source of the order, instead of a seed; default: torch's global generator.
        drop_last : bool, default=False
            Whether to omit the last batch if it is smaller than the others.
        device : torch.device or str, optional
            Where batches are moved; items are gathered on the device of the data set.
        labeled_share : float, optional
            Make labeled items more (or less) frequent: every unlabeled item occurs once, and labeled items make up this
            share of each batch, rounded up or down (the supervision rate ρ of S16 and S17;
            :func:`unknot.objectives.supervision_rate` gives it for a γ). Such an epoch is shuffled; a batch may contain
            an item twice if few are labeled.
        labeled_by : str or sequence of str, optional
            The factors whose labels make an item a labeled one; default: any factor.

        Yields
        ------
        Batch
        """
        if batch_size < 1:
            raise DataError(f"{self.name}: batch_size is at least 1, got {batch_size}.")
        if seed is not None:
            if generator is not None:
                raise DataError(f"{self.name}: give a seed or a generator, not both.")
            generator = torch.Generator().manual_seed(seed)
        for factor in self.factors.values():
            factor.refuse_wrong_values()
        if labeled_share is None:
            order = epoch_order(len(self), shuffle, generator)
        elif not shuffle:
            raise DataError(f"{self.name}: an epoch with labeled_share is shuffled; leave shuffle on.")
        else:
            order = supervised_order(any_known(self, labeled_by), labeled_share, generator)
        return iterate(self, order, batch_size, drop_last, device)

    def __repr__(self) -> str:
        lines = [f"Dataset {self.name}: {len(self)} items of shape {tuple(self.item_shape)} ({self.x.dtype})"]
        for name, f in self.factors.items():
            size = f", {len(f.classes)} classes" if f.classes else ""
            lines.append(f"  {name}: {f.kind}{size}, {int(f.known.sum())} of {len(self)} labels known")
        if self.splits:
            lines.append(
                "  splits: " + ", ".join(f"{name} {len(rows)}" for name, rows in self.splits.items())
            )
        return "\n".join(lines)
