"""Frames of any library, and rows of several kinds of columns, as tables."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from unknot.data.dataset import COLUMN_KINDS, Column, Dataset
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.column_kinds import LEAVE_OUT, TEXT, WordsNeeded, read_columns, without_odd_cells
from unknot.data.readers.table_cells import read_cells
from unknot.data.readers.table_files import ArrowSource
from unknot.errors import DataError, SpecError, UnknotWarning
from unknot.missing import is_missing


def is_frame(x: Any) -> bool:
    """Return whether x is a frame of pandas, polars, pyarrow or another library that narwhals knows."""
    return nw.dependencies.is_into_dataframe(x)


def is_records(x: Any) -> bool:
    """Return whether x is one item or a list of items, each a mapping from column to cell."""
    return (isinstance(x, Mapping) and not hasattr(x, "toarray")) or (  # scipy's sparse dok_array is a dict
        isinstance(x, list | tuple) and len(x) > 0 and all(isinstance(item, Mapping) for item in x)
    )


def frame_of_records(x: Any, names: Sequence[str] = ()) -> pa.Table:
    """Return one or several items as a frame; a key that an item does not have is a missing cell.

    Parameters
    ----------
    x : mapping or sequence of mappings
        The items.
    names : sequence of str, optional
        Columns that come first, if they are there.
    """
    records = [x] if isinstance(x, Mapping) else list(x)
    keys = dict.fromkeys(key for record in records for key in record)
    ordered = [*(name for name in names if name in keys), *(key for key in keys if key not in set(names))]
    arrays = {}
    for key in ordered:
        cells = np.empty(len(records), dtype=object)
        cells[:] = [record.get(key) for record in records]
        arrays[str(key)] = _arrow_array(str(key), cells)
    return pa.table(arrays)


def read_frame(
    x: Any, columns: Any = None, known: Sequence[Column] = (), errors: str | None = None
) -> Dataset:
    """Read a frame as a table.

    Parameters
    ----------
    x : frame
        Of pandas, polars or pyarrow.
    columns : mapping from name to kind, or sequence of kinds, optional
        Declared kinds.
    known : sequence of Column, optional
        The columns of the training data. They are found by name, in any order.
    errors : {"warn", "raise"}, optional
        What happens to cells that do not fit these (:func:`unknot.data.readers.column_kinds.read_columns`).

    Returns
    -------
    Dataset
    """
    try:
        frame = nw.from_native(x, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError:
        raise DataError("x has two columns of the same name; rename one of them.") from None
    if 0 in frame.shape:
        raise DataError(f"x has no rows or no columns: there is no data (shape={frame.shape}).")
    kinds = _kinds(columns, names)
    for name in kinds:
        if name not in names:
            raise SpecError(f"columns names '{name}', but x has {', '.join(names)}.")
    chosen = {column.origin for column in known} or {n for n in names if kinds.get(n) != LEAVE_OUT}
    arrays = {
        name: _arrow_array(name, series)
        for name, series in zip(names, frame.iter_columns(), strict=True)
        if name in chosen
    }
    data = _as_table(arrays, kinds, known, errors)
    return replace(data, columns=tuple(column.name for column in data.table))


def frame_library(x: Any) -> str | None:
    """Return the library of a frame, for :func:`make_frame`; None for other data."""
    return nw.from_native(x, eager_only=True).implementation.value if is_frame(x) else None


def make_frame(rows: np.ndarray, names: Sequence[str], library: str | None) -> Any:
    """Return rows as a frame of a library; without one, of that which the program uses, or as they are."""
    library = library or next((name for name in ("pandas", "polars") if name in sys.modules), None)
    if library is None:
        return rows
    columns = {name: np.array(rows[:, i].tolist()) for i, name in enumerate(names)}
    return nw.from_dict(columns, backend=library).to_native()  # type: ignore[arg-type]


def numeric_rows(x: Any) -> np.ndarray | None:
    """Return the rows of a frame as float64 if all of its columns are numbers or bools; else None."""
    frame = nw.from_native(x, eager_only=True)
    if not all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values()):
        return None
    return np.asarray(frame.to_numpy(), dtype=np.float64)


def read_table(
    array: np.ndarray, columns: Any = None, known: Sequence[Column] = (), errors: str | None = None
) -> Dataset:
    """Read rows ``(N, C)`` as a table; columns are found by position.

    Parameters
    ----------
    array : ndarray of numbers or objects
        The rows.
    columns : mapping from name to kind, or sequence of kinds, optional
        Declared kinds.
    known : sequence of Column, optional
        The columns of the training data. Columns that were left out there may be present or absent.
    errors : {"warn", "raise"}, optional
        What happens to cells that do not fit these (:func:`unknot.data.readers.column_kinds.read_columns`).

    Returns
    -------
    Dataset
    """
    known_names = {column.origin for column in known}
    names = column_names(columns, array.shape[1], known)
    kinds = {} if known else _kinds(columns, names)
    places = {
        name: i
        for i, name in enumerate(names)
        if (name in known_names if known else kinds.get(name) != LEAVE_OUT)
    }
    if array.dtype.kind in "buif" and (
        all(not c.reads for c in known) if known else set(places) <= set(kinds)
    ):
        table = tuple(known) or tuple(Column(name, kinds[name]) for name in places)  # type: ignore[arg-type]
        return _made(array[:, list(places.values())], table, errors)
    arrays = {name: _arrow_array(name, array[:, i]) for name, i in places.items()}
    return _as_table(arrays, {name: kinds[name] for name in places if name in kinds}, known, errors)


def _as_table(
    arrays: Mapping[str, pa.Array], kinds: Mapping[str, str], known: Sequence[Column], errors: str | None
) -> Dataset:
    source = ArrowSource.of_table(pa.table(dict(arrays)), "x")
    keep = {name for name, kind in kinds.items() if kind in ("category", TEXT)}
    keep |= {column.origin for column in known if column.needs_words}
    while True:
        try:
            table, rows = read_columns("x", read_cells(source, keep), kinds, known, first=0, errors=errors)
            return _made(rows.array(), table, errors, rows.odd_rows)
        except WordsNeeded as error:
            keep.add(error.name)


def _made(
    rows: np.ndarray, table: tuple[Column, ...], errors: str | None, odd_rows: tuple[int, ...] = ()
) -> Dataset:
    if errors == "warn":
        rows, others = without_odd_cells(rows, table, "x", first=0)
        odd_rows = tuple(sorted({*odd_rows, *others}))
    return replace(from_arrays(rows.astype(np.float32), missing=True), table=table, odd_rows=odd_rows)


def column_names(columns: Any, count: int, known: Sequence[Column] = ()) -> list[str]:
    """Return the names of columns that have none: the known ones, those of ``columns``, or their positions."""
    if len(origins := list(dict.fromkeys(column.origin for column in known))) == count:
        return origins
    names = list(columns) if isinstance(columns, Mapping) else [f"column {i}" for i in range(count)]
    if known and (len(names) != count or not {column.origin for column in known} <= set(names)):
        raise DataError(
            f"X has {count} features, but expecting {len(known)}: the model was fitted on the columns "
            f"{', '.join(column.name for column in known)}."
        )
    if len(names) != count:
        raise DataError(f"columns names {len(names)} kinds, but the rows of x have shape ({count},).")
    return names


def _kinds(columns: Any, names: Sequence[str]) -> dict[str, str]:
    """Return the declared kinds by name; a list gives those of all columns in order."""
    if columns is None:
        return {}
    if isinstance(columns, Mapping):
        named = {str(name): kind for name, kind in columns.items()}
    else:
        if len(columns) != len(names):
            raise DataError(
                f"columns names {len(columns)} kinds, but the rows of x have shape ({len(names)},)."
            )
        named = dict(zip(names, columns, strict=True))
    for name, kind in named.items():
        if kind not in (*COLUMN_KINDS, TEXT, LEAVE_OUT):
            raise SpecError(
                f"columns: kinds are {', '.join((*COLUMN_KINDS, TEXT))}, but that of {name} is {kind!r}."
            )
    return named


def _arrow_array(name: str, values: nw.Series | np.ndarray) -> pa.Array:
    """Return a column as an array of Arrow; a mixture of types as words."""
    try:
        return values.to_arrow() if isinstance(values, nw.Series) else pa.array(values, from_pandas=True)
    except pa.ArrowException:
        cells = values.to_list() if isinstance(values, nw.Series) else list(values)
        return pa.array([_word(name, cell) for cell in cells], pa.string())


def _word(name: str, value: Any) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str | bool | int | float | np.generic):
        raise DataError(
            f"x, column '{name}': holds {type(value).__name__} values; make numbers or words of them, or leave it out."
        )
    return str(float(value)) if isinstance(value, bool | np.bool_) else str(value)


def warn_of_position(known: Sequence[Column]) -> None:
    """Warn that rows without names are read in the order of the frame that the model was fitted on."""
    warnings.warn(
        "x does not have valid feature names, but the model was fitted with feature names: its columns are taken as "
        f"{', '.join(column.name for column in known[:8])}{', ...' if len(known) > 8 else ''}, in this order.",
        UnknotWarning,
        stacklevel=4,
    )
