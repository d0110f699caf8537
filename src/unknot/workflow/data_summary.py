"""A summary of the data, which is printed before training: what is data, and what is label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Column, Dataset
from unknot.data.factor import Factor
from unknot.data.readers.written_cells import in_words
from unknot.data.series import is_series
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.data.text_dataset import TextDataset

_LISTED = 6  # names in a list before it is cut
_LOOKED_AT = 64  # images


def describe_data(train: Dataset, test: Dataset | None = None) -> list[str]:
    """Return lines that say what is data and what is label.

    Parameters
    ----------
    train : Dataset
        The training data.
    test : Dataset, optional
        The test data.
    """
    lines = [f"Data: {len(train):,} {_items(train)}{_kept(test)}."]
    reads: dict[str, list[str]] = {}
    for column in train.table:
        if column.reads:
            reads.setdefault(column.origin, []).append(column.reads)
    if reads:
        listed = "; ".join(f"{name} ({in_words(parts)})" for name, parts in reads.items())
        lines.append(f"Cells read as numbers: {listed}.")
    lines += [f"Label {_label(factor)}." for factor in train.factors.values()]
    if not train.factors:
        lines.append("No labels: unsupervised, everything above is data.")
    return lines


def is_drawn_in_ink(data: Dataset) -> bool:
    """Whether the items are images of strokes on an empty ground, and no photographs."""
    if len(data.item_shape) != 3:
        return False
    return drawn_in_ink(data.batch(range(min(_LOOKED_AT, len(data)))).x.cpu().numpy())


def drawn_in_ink(images: np.ndarray) -> bool:
    """Whether gray images ``(N, C, H, W)`` are strokes: much of the ground is exactly zero."""
    return images.shape[1] == 1 and float((images == 0).mean()) > 0.3


def _kept(test: Dataset | None) -> str:
    return "" if test is None else f"; {len(test):,} more are kept for the test"


def _items(data: Dataset) -> str:
    if data.table:
        return f"rows of {data.name} with {len(data.table)} columns: {_columns(data.table)}"
    if len(data.item_shape) == 3:
        colors, height, width = data.item_shape
        shown = f"images of {data.name}, {width}x{height}, {'gray' if colors == 1 else 'color'}"
        resized = f", resized from {data.resized_from} (size chooses another size)"
        return shown + (resized if data.resized_from else "")
    if isinstance(data, TextDataset):
        return f"texts of {data.name} with {len(data.columns):,} different words"
    if isinstance(data, CellDataset):
        return f"cells of {data.name} with {len(data.columns):,} genes"
    if _are_counts(data):
        size = data.item_shape.numel()
        return (
            f"rows of {data.name} with {size:,} counts each (whole numbers; measurements are given as floats)"
        )
    if is_series(data):
        channels, steps = data.item_shape
        return f"series of {data.name}, {channels} channel{'s' * (channels > 1)} of {steps} steps"
    return f"items of {data.name} of shape {tuple(data.item_shape)}"


def _are_counts(data: Dataset) -> bool:
    """Whether items are rows of whole numbers, which the default model takes for counts."""
    if isinstance(data.x, Tensor | StoredItems):
        return len(data.item_shape) == 1 and data.x.dtype == torch.int64
    return isinstance(data.x, SparseCounts)


def _columns(table: Sequence[Column]) -> str:
    counts = Counter(column.kind for column in table)
    named = {kind: _listed([column.name for column in table if column.kind == kind]) for kind in counts}
    return "; ".join(f"{count} {kind} ({named[kind]})" for kind, count in counts.items())


def _label(factor: Factor) -> str:
    known, count = int(factor.known.sum()), len(factor)
    what = "numbers"
    if factor.kind == "categorical":
        what = f"{len(factor.classes or ())} classes ({_listed(factor.classes or ())})"
    elif factor.kind != "continuous":
        what = "yes or no" if factor.kind == "binary" else "counts"
    others = int(factor.observed.sum()) - known
    votes = f", votes of {len(factor.raters)} raters" if factor.raters else ""
    partly = f", partly known for {others:,}" if others and not votes else ""
    return f"{factor.name}: {what}, known for {known:,} of {count:,}{partly}{votes}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
