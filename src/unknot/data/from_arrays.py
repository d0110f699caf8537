"""from_arrays: a Dataset from the user's own arrays, with every label checked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset, training_rows
from unknot.data.factor import Kind
from unknot.data.float32_precision import loses_precision, plain_array, precision_warning
from unknot.data.label_column import read_factor
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
    kinds: Mapping[str, Kind] | None = None,
    classes: Mapping[str, Sequence[Any]] | None = None,
    splits: Mapping[str, Any] | None = None,
    ids: Any = None,
    name: str = "data",
    licence: str = "",
    missing: bool = False,
) -> Dataset:
    """A data set from arrays, lists, masked arrays or tensors.

        from_arrays(images, {"digit": labels, "angle": angles}, classes={"digit": range(10)})

    Arguments:

    * ``x``: the items, one row each. Images are uint8, or floats from 0 to 1; ``(N, H, W)`` becomes ``(N, 1, H, W)``.
      Rows of whole numbers, wide and nearly empty, are counts of words, of which only the words present are held;
    * ``factors``: for each factor its labels, one per item. **Unknown** labels are None, NaN, an empty word or masked
      out, and -1 for the integer kinds; in a continuous factor -1 is a number like any other;
    * ``kinds``: the kind of some factors. Without it strings and whole numbers are categorical, bools are binary,
      floats are continuous. A count, and classes that come as floats because of NaN, must be declared;
    * ``classes``: for some factors the names for the values 0, 1, ..., or the values themselves; without it they are
      the values that occur, sorted. Declare them when some class may have no label;
    * ``splits``: name -> rows, or a bool mask, for instance "train" and "test". The rows of "test" do not decide
      which classes there are;
    * ``ids``: a number for each item; by default its row;
    * ``name``, ``licence``: for messages and for the record;
    * ``missing``: x may hold NaN for entries that are missing; otherwise every item must be complete.

    Returns a :class:`~unknot.data.Dataset`.
    """
    kinds, classes, factors = dict(kinds or {}), dict(classes or {}), dict(factors or {})
    for option, names in (("kinds", kinds), ("classes", classes)):
        for stray in names.keys() - factors.keys():
            raise DataError(f"{name}: {option} speaks of '{stray}', which is not among the factors.")
    items = _items(x, name, missing)
    parts = {part: _split_rows(part, rows, len(items)) for part, rows in (splits or {}).items()}
    deciding = training_rows(parts, len(items))
    made = {}
    for label, values in factors.items():
        made[label] = read_factor(label, values, len(items), kinds.get(label), classes.get(label), deciding)
    numbers = torch.arange(len(items)) if ids is None else torch.as_tensor(np.asarray(ids, dtype=np.int64))
    return Dataset(name, items, numbers, made, parts, licence)


def _items(x: Any, name: str, missing: bool) -> Tensor | StoredItems | SparseCounts:
    if isinstance(x, Tensor | StoredItems):
        items = x
    else:
        numbers = plain_array(x, name)
        if numbers.ndim == 2 and np.asarray(x).dtype == np.float64:
            _warn_of_lost_digits(np.asarray(x), name)
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
    if items.dtype == torch.uint8:
        is_image = True
    else:
        low, high = _range(items, name, missing)
        _refuse_wrong_scale(items, low, high, name)
        if isinstance(items, Tensor) and items.dtype == torch.int64 and low < 0:
            items = items.float()  # numbers, that is: counts are at least 0
        is_image = items.dtype.is_floating_point and low >= 0 and high <= 1
        if isinstance(items, Tensor) and low >= 0 and _are_words(items):
            return _counts(items)
    if not is_image or items.ndim != 3:
        return items
    return items.with_channel() if isinstance(items, StoredItems) else items[:, None]


def _warn_of_lost_digits(rows: np.ndarray, name: str) -> None:
    lost = np.nonzero(loses_precision(rows))[0]
    if len(lost):
        warnings.warn(precision_warning(f"{name}, column {lost[0]}"), UnknotWarning, stacklevel=2)


def _are_words(items: Tensor) -> bool:
    """Whether rows of numbers look like counts of words: whole, wide, and nearly all of them zero."""
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
    """Images of floats from 0 to 255, or of other whole numbers, would be taken for something else than pixels."""
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
