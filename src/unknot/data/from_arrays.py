"""from_arrays: a Dataset from arrays of the user, with every label checked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset, training_rows
from unknot.data.factor import DeclaredKind
from unknot.data.float32_precision import loses_precision, plain_array, precision_warning
from unknot.data.label_column import Classes, read_factor
from unknot.data.series import is_series_shape
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError, UnknotWarning

# Whole numbers in rows this wide and with this share of zeros are counts of words. (Pixels are uint8, and of written
# digits four in five are empty.)
_WORDS, _ABSENT = 200, 0.9
_BLOCK = 1 << 20  # numbers that are checked together


def from_arrays(
    x: Any,
    factors: Mapping[str, Any] | None = None,
    *,
    kinds: Mapping[str, DeclaredKind] | None = None,
    classes: Mapping[str, Classes] | None = None,
    splits: Mapping[str, Any] | None = None,
    ids: Any = None,
    name: str = "data",
    licence: str = "",
    missing: bool = False,
) -> Dataset:
    """Make a data set from arrays, lists, masked arrays or tensors.

    Parameters
    ----------
    x : array-like, shape (N, ...)
        The items. Images are uint8, or floats from 0 to 1; ``(N, H, W)`` becomes ``(N, 1, H, W)``. Series are
        ``(N, C, T)`` with fewer than 8 channels or more than 4 steps per channel, NaN where steps are missing. Wide
        rows of whole numbers that are nearly all 0 are counts of words, which are stored sparsely.
    factors : mapping from name to array-like or Votes, optional
        Labels, one per item. Unknown labels are None, NaN, an empty word or masked out, and -1 for the integer kinds.
        A label may also say less than one class (:func:`unknot.data.label_evidence.read_evidence`).
    kinds : mapping from factor to kind, optional
        By default strings and whole numbers are categorical, bools are binary, floats are continuous. Counts must be
        declared, and classes that are floats because of NaN.
    classes : mapping from factor to sequence, Hierarchy or mapping, optional
        The names for the values 0, 1, ..., or the values themselves; default: the values that occur, sorted. Declare
        them if a class may have no label. Nested mappings are a tree of classes.
    splits : mapping from name to rows or bool mask, optional
        For instance "train" and "test". The rows of "test" do not decide the classes.
    ids : array-like of int, optional
        A number for each item; default: its row.
    name : str, default="data"
        The name in messages.
    licence : str
        What the authors of the data allow.
    missing : bool, default=False
        Whether x may contain NaN for missing entries.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = from_arrays([[0.5, 1.0], [1.5, 2.0]], {"kind": ["a", None]})
    >>> data.factor("kind").values.tolist()
    [0, -1]
    """
    kinds, classes, factors = dict(kinds or {}), dict(classes or {}), dict(factors or {})
    for option, names in (("kinds", kinds), ("classes", classes)):
        for stray in names.keys() - factors.keys():
            raise DataError(f"{name}: {option} names '{stray}', which is not among the factors.")
    items = _items(x, name, missing)
    parts = {part: _split_rows(part, rows, len(items)) for part, rows in (splits or {}).items()}
    training = training_rows(parts, len(items))
    labels = {
        label: read_factor(label, values, len(items), kinds.get(label), classes.get(label), training)
        for label, values in factors.items()
    }
    numbers = torch.arange(len(items)) if ids is None else torch.as_tensor(np.asarray(ids, dtype=np.int64))
    return Dataset(name, items, numbers, labels, parts, licence)


def _items(x: Any, name: str, missing: bool) -> Tensor | StoredItems | SparseCounts:
    if isinstance(x, Tensor | StoredItems):
        items = x
    else:
        numbers = plain_array(x, name)
        if numbers.ndim == 2 and np.asarray(x).dtype == np.float64:
            _warn_of_precision(np.asarray(x), name)
        items = torch.as_tensor(numbers)
    if items.ndim < 2:
        raise DataError(f"{name}: x has one row per item, (N, ...), got shape {tuple(items.shape)}.")
    if items.ndim == 4 and items.shape[1] not in (1, 3) and items.shape[3] in (1, 3, 4):
        raise DataError(
            f"{name}: images are (N, C, H, W), got {tuple(items.shape)}; move the colors to axis 1, "
            "x.transpose(0, 3, 1, 2) of the first three."
        )
    if isinstance(items, Tensor) and items.dtype == torch.float64:
        items = items.float()
    is_series = is_series_shape(items.shape)
    if is_series and isinstance(items, Tensor):
        items = items.float()  # numbers as they are, whatever their type
    if items.dtype == torch.uint8:
        is_image = True
    else:
        low, high = _range(items, name, missing or is_series)
        if not is_series:
            _refuse_wrong_scale(items, low, high, name)
        if isinstance(items, Tensor) and items.dtype == torch.int64 and low < 0:
            items = items.float()  # numbers, that is: counts are at least 0
        is_image = items.dtype.is_floating_point and low >= 0 and high <= 1
        if isinstance(items, Tensor) and low >= 0 and _are_words(items):
            return _counts(items)
    if not is_image or is_series or items.ndim != 3:
        return items
    return items.with_channel() if isinstance(items, StoredItems) else items[:, None]


def _warn_of_precision(rows: np.ndarray, name: str) -> None:
    lost = np.nonzero(loses_precision(rows))[0]
    if len(lost):
        warnings.warn(precision_warning(f"{name}, column {lost[0]}"), UnknotWarning, stacklevel=2)


def _are_words(items: Tensor) -> bool:
    """Return whether rows of numbers look like counts of words: whole, wide, and nearly all zero."""
    if items.dtype.is_floating_point or items.dtype == torch.bool or items.ndim != 2 or not len(items):
        return False
    return items.shape[1] >= _WORDS and int(items.count_nonzero()) <= (1 - _ABSENT) * items.numel()


def _counts(items: Tensor) -> SparseCounts:
    from scipy import sparse

    return SparseCounts.from_scipy(sparse.csr_matrix(items.cpu().numpy()))


def _range(items: Tensor | StoredItems, name: str, missing: bool) -> tuple[float, float]:
    """Return the smallest and the largest number, NaN if one is missing; infinity is refused."""
    ends = []
    for start, block in _blocks(items):
        is_right = block.isfinite() | block.isnan() if missing else block.isfinite()
        is_right = is_right.reshape(len(block), -1).all(1)
        if not bool(is_right.all()):
            row = start + int((~is_right).nonzero()[0])
            if missing:
                raise DataError(
                    f"{name}: x holds infinity, or a number beyond 3e38, in row {row}; mend or empty the cell."
                )
            raise DataError(f"{name}: x holds NaN or infinity in row {row}; every item must be complete.")
        if block.numel():
            ends.append([float(block.min()), float(block.max())])
    if not ends:
        return math.inf, -math.inf
    low, high = np.array(ends).T  # numpy's min and max of NaN are NaN
    return float(low.min()), float(high.max())


def _blocks(items: Tensor | StoredItems) -> Iterator[tuple[int, Tensor]]:
    """Yield blocks of items with the number of the first, so that checks take little memory."""
    if isinstance(items, StoredItems):
        yield from items.blocks()
        return
    step = max(1, _BLOCK // max(1, items[:1].numel()))
    for start in range(0, max(1, len(items)), step):
        yield start, items[start : start + step]


def _refuse_wrong_scale(items: Tensor | StoredItems, low: float, high: float, name: str) -> None:
    """Refuse images of floats from 0 to 255 and of whole numbers that are not uint8."""
    if items.ndim > 2 and items.dtype not in (torch.uint8, torch.bool) and not items.dtype.is_floating_point:
        raise DataError(
            f"{name}: x holds whole numbers of type {str(items.dtype).removeprefix('torch.')} in items of shape "
            f"{tuple(items.shape[1:])}: make images uint8 (0 to 255), or floats from 0 to 1."
        )
    if items.ndim not in (3, 4) or not items.dtype.is_floating_point:
        return
    if low >= 0 and 1 < high <= 255:
        raise DataError(
            f"{name}: images of floats are from 0 to 1, but x reaches {high:g}; divide by its largest value, "
            "or make it uint8 (0 to 255). Other numbers go as rows, x.reshape(len(x), -1)."
        )


def _split_rows(part: str, rows: Any, size: int) -> Tensor:
    chosen = torch.as_tensor(np.asarray(rows))
    if chosen.dtype == torch.bool and chosen.shape == (size,):
        return chosen.nonzero()[:, 0]
    if chosen.dtype == torch.bool or chosen.ndim != 1 or bool(((chosen < 0) | (chosen >= size)).any()):
        raise DataError(f"split '{part}': expected rows from 0 to {size - 1}, or a mask of {size} entries.")
    return chosen.long()
