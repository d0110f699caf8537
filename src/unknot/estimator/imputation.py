"""Missing cells filled in the user's own frame, array or mappings, where every other cell stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import narwhals as nw
import numpy as np

from unknot.data.dataset import Column
from unknot.data.readers.csv_cells import read_cell
from unknot.data.readers.written_cells import date_of, is_since
from unknot.estimator.frame import column_names, frame_of_records, is_records
from unknot.missing import is_missing

Fill = Callable[[int, Any], Any]  # from a row and a known cell of the column to the missing cell


def fill_missing(
    x: Any, array: np.ndarray | None, values: np.ndarray, table: Sequence[Column], columns: Any
) -> Any:
    """Return x with its missing cells filled.

    Parameters
    ----------
    x : frame, array, mapping or sequence of mappings
        The rows; columns that the model does not know are kept.
    array : ndarray of shape (N, C), optional
        The rows, if x is neither a frame nor mappings.
    values : ndarray of float32, shape (N, D)
        The expected rows.
    table : sequence of Column
        The D columns of the model.
    columns : mapping or sequence, optional
        The kinds that were declared for ``fit``, which may name the columns of an array.

    Returns
    -------
    frame, array, mapping or list
        Of the form of x. Categories are filled with categories, and whole numbers, bools and dates with such.
    """
    fills: dict[str, Fill] = {}
    for i, column in enumerate(table):
        if not column.source or is_since(column.reads):
            fills[column.origin] = _fill(column, values[:, i])
    if is_records(x):
        filled = _filled_frame(frame_of_records(x), fills).to_pylist()
        return filled[0] if isinstance(x, Mapping) else filled
    if array is None:
        return _filled_frame(x, fills)
    names = column_names(columns, array.shape[1], table)
    filled_array = array.copy()
    for j, name in enumerate(names):
        if name in fills:
            cells = filled_array[:, j].tolist()
            for row, cell in _filled_cells(cells, fills[name]):
                filled_array[row, j] = cell
    return filled_array


def _filled_frame(x: Any, fills: Mapping[str, Fill]) -> Any:
    frame = nw.from_native(x, eager_only=True)
    changed = []
    for series in frame.iter_columns():
        if str(series.name) in fills:
            cells = _filled_cells(series.to_list(), fills[str(series.name)])
            if cells:
                rows, words = zip(*cells, strict=True)
                changed.append(series.scatter(list(rows), list(words)))
    return frame.with_columns(*changed).to_native() if changed else x


def _filled_cells(cells: Sequence[Any], fill: Fill) -> list[tuple[int, Any]]:
    """Return the rows of missing cells with what belongs there."""
    missing = [_is_gap(cell) for cell in cells]
    like = next((cell for cell, gap in zip(cells, missing, strict=True) if not gap), None)
    return [(row, fill(row, like)) for row, gap in enumerate(missing) if gap]


def _is_gap(cell: Any) -> bool:
    return read_cell(cell) is None if isinstance(cell, str) else is_missing(cell)


def _fill(column: Column, values: np.ndarray) -> Fill:
    """Return the function that makes cells of a column from its expected values."""

    def fill(row: int, like: Any) -> Any:
        value = float(values[row])
        if is_since(column.reads):
            return _date(date_of(value, column.reads), like)
        if column.kind == "category":
            word = column.classes[round(value)]
            return word if isinstance(like, str) or like is None else type(like)(float(word))
        if column.kind == "binary":
            value = float(round(value))
        if isinstance(like, bool | np.bool_):
            return bool(round(value))
        if isinstance(like, int | np.integer):
            return round(value)
        if isinstance(like, str):
            unit = column.reads.removeprefix("unit") if column.reads.startswith("unit ") else ""
            return f"{value:.6g}{unit}"
        return value

    return fill


def _date(when: date, like: Any) -> Any:
    if isinstance(like, datetime):
        return datetime.combine(when, time(), like.tzinfo)
    return when if isinstance(like, date) else when.isoformat()
