"""What users hand to a StructuredVAE, as data sets: arrays, images, and tables of several kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.column import COLUMN_KINDS, Column
from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.from_arrays import from_arrays
from unknot.data.user.csv_table import read_columns
from unknot.errors import DataError, SpecError


def read_items(x: Any, columns: Any = None, known: Sequence[Column] = ()) -> Dataset:
    """The items without labels. ``columns`` are a table's kinds, ``known`` the columns of the training data."""
    array = x.detach().cpu().numpy() if isinstance(x, Tensor) else np.asarray(x)
    if array.ndim == 0 or len(array) == 0:
        raise DataError("x has no rows: there is no data.")
    if columns is not None:
        return _table(array, columns, known)
    if array.dtype.kind not in "buif":
        raise DataError(
            "x is not an array of numbers: images must have one size, and a table with words or gaps needs "
            "columns=[...], the kinds of its columns."
        )
    if array.ndim > 2 and array.dtype.kind in "iu" and array.dtype != np.uint8:
        raise DataError(
            f"x holds whole numbers of type {array.dtype} in items of shape {array.shape[1:]}: make images uint8 "
            "(0 to 255), or floats from 0 to 1."
        )
    return from_arrays(array.astype(np.float32) if array.dtype.kind == "b" else array)


def with_labels(items: Dataset, labels: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Dataset:
    """The items with their labels, each of the kind that is declared or can be told."""
    for name in kinds:
        if name not in labels:
            raise SpecError(f"kinds speaks of '{name}', but no such labels were given.")
    for name, values in labels.items():
        if name not in kinds and _classes_or_numbers(values):
            raise DataError(
                f"factor '{name}': whole numbers beside NaN may be classes or numbers; say which, "
                f"kinds={{'{name}': 'categorical'}} or 'continuous' (classes may also mark the unknown by -1)."
            )
    made = from_arrays(items.x, dict(labels), kinds=kinds, missing=bool(items.table))
    return replace(items, factors=made.factors)


def words(table: Sequence[Column], rows: np.ndarray) -> np.ndarray:
    """Rows of a table with the words of its categories, where it has such."""
    if not any(column.classes for column in table):
        return rows
    spoken = rows.astype(object)  # (..., C)
    for i, column in enumerate(table):
        if column.classes:
            spoken[..., i] = np.asarray(column.classes, dtype=object)[rows[..., i].astype(int)]
    return spoken


def _table(array: np.ndarray, columns: Any, known: Sequence[Column]) -> Dataset:
    kinds = _kinds(columns)
    if array.ndim != 2 or array.shape[1] != len(kinds):
        raise DataError(f"columns names {len(kinds)} kinds, but the rows of x have shape {array.shape[1:]}.")
    if array.dtype.kind in "buif":
        table = tuple(known) or tuple(Column(name, kind) for name, kind in kinds.items())  # type: ignore[arg-type]
        rows = array.astype(np.float32)
    else:
        cells = {name: [_cell(v) for v in array[:, i]] for i, name in enumerate(kinds)}
        table, rows = read_columns("x", cells, kinds, known)
    return replace(from_arrays(rows, missing=True), table=table)


def _kinds(columns: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    named = (
        columns if isinstance(columns, Mapping) else {f"column {i}": kind for i, kind in enumerate(columns)}
    )
    for name, kind in named.items():
        if kind not in COLUMN_KINDS:
            raise SpecError(f"columns: kinds are {', '.join(COLUMN_KINDS)}, but that of {name} is {kind!r}.")
    return dict(named)


def _cell(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(float(value)) if isinstance(value, bool | np.bool_) else str(value)


def _classes_or_numbers(values: Any) -> bool:
    """Whether labels are floats, NaN among them, that are all whole: classes of a column with gaps, or numbers."""
    array = np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)
    if array.dtype.kind != "f" or array.ndim != 1:
        return False
    known = array[~np.isnan(array)]
    return 0 < len(known) < len(array) and bool((known == np.round(known)).all() and (known >= -1).all())
