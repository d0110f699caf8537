"""Frames and rows of several kinds of columns as tables: columns by name, kinds as declared or inferred."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unknot.data.column import COLUMN_KINDS, Column
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.data.user.table_cells import cells_of
from unknot.data.user.table_kinds import LEAVE_OUT, read_columns
from unknot.errors import DataError, SpecError, UnknotWarning
from unknot.missing import is_missing


def is_frame(x: Any) -> bool:
    """Whether x is a frame (of pandas, or anything like it): columns by name, each of them an array."""
    return hasattr(x, "columns") and hasattr(x, "dtypes") and hasattr(x, "__getitem__")


def read_frame(x: Any, columns: Any = None, known: Sequence[Column] = ()) -> Dataset:
    """A frame as a table. Columns go by name: their order is free, and a ``known`` one that is absent is refused."""
    names = [str(name) for name in x.columns]
    if len(x) == 0 or not names:
        raise DataError(f"x has no rows or no columns: there is no data (shape={(len(x), len(names))}).")
    if len(set(names)) != len(names):
        raise DataError("x has two columns of the same name; rename one of them.")
    kinds = _kinds(columns, names)
    for name in kinds:
        if name not in names:
            raise SpecError(f"columns speaks of '{name}', but x has {', '.join(names)}.")
    wanted = {column.name for column in known} or {n for n in names if kinds.get(n) != LEAVE_OUT}
    cells = {
        name: _cells(name, np.asarray(x[column], dtype=object))
        for name, column in zip(names, x.columns, strict=True)
        if name in wanted
    }
    made = _as_table(cells, kinds, known)
    return replace(made, columns=tuple(column.name for column in made.table))


def make_frame(rows: np.ndarray, names: Sequence[str]) -> Any:
    """Rows as a frame of pandas; as they are for somebody who does not use pandas, with the model of a .csv file."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return rows
    return pandas.DataFrame(rows, columns=list(names)).infer_objects()


def read_table(array: np.ndarray, columns: Any = None, known: Sequence[Column] = ()) -> Dataset:
    """Rows ``(N, C)`` as a table; columns go by position. Those that were left out of ``known`` may be there again."""
    wanted = [column.name for column in known]
    names = wanted if len(wanted) == array.shape[1] else _names(columns, array.shape[1], known)
    kinds = {} if known else _kinds(columns, names)
    places = {
        name: i for i, name in enumerate(names) if (name in wanted if known else kinds.get(name) != LEAVE_OUT)
    }
    if array.dtype.kind in "buif" and (known or set(places) <= set(kinds)):
        table = tuple(known) or tuple(Column(name, kinds[name]) for name in places)  # type: ignore[arg-type]
        rows = array[:, list(places.values())].astype(np.float32)
        return replace(from_arrays(rows, missing=True), table=table)
    cells = {name: _cells(name, array[:, i].astype(object)) for name, i in places.items()}
    return _as_table(cells, {name: kinds[name] for name in places if name in kinds}, known)


def _as_table(
    cells: Mapping[str, Sequence[str | None]], kinds: Mapping[str, str], known: Sequence[Column]
) -> Dataset:
    table, rows = read_columns("x", cells_of(cells), kinds, known, first=0)
    return replace(from_arrays(rows.array(), missing=True), table=table)


def _names(columns: Any, count: int, known: Sequence[Column] = ()) -> list[str]:
    """Names of the columns of rows without names: those of ``columns``, or their positions; ``known`` among them."""
    names = list(columns) if isinstance(columns, Mapping) else [f"column {i}" for i in range(count)]
    if known and (len(names) != count or not {column.name for column in known} <= set(names)):
        raise DataError(
            f"X has {count} features, but expecting {len(known)}: the model was fitted on the columns "
            f"{', '.join(column.name for column in known)}."
        )
    if len(names) != count:
        raise DataError(f"columns names {len(names)} kinds, but the rows of x have shape ({count},).")
    return names


def _kinds(columns: Any, names: Sequence[str]) -> dict[str, str]:
    """The declared kinds by name; a list gives those of all columns in order."""
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
        if kind not in (*COLUMN_KINDS, LEAVE_OUT):
            raise SpecError(f"columns: kinds are {', '.join(COLUMN_KINDS)}, but that of {name} is {kind!r}.")
    return named


def _cells(name: str, values: np.ndarray) -> list[str | None]:
    """A column's values as words, None where missing (None, NaN and pandas' NA)."""
    for value in values:
        if not is_missing(value) and not isinstance(value, str | bool | int | float | np.generic):
            raise DataError(
                f"x, column '{name}': holds {type(value).__name__} values; make numbers or words of them, or leave it "
                "out."
            )
    return [None if is_missing(value) else _text(value) for value in values]


def _text(value: Any) -> str:
    return str(float(value)) if isinstance(value, bool | np.bool_) else str(value)


def warn_of_position(known: Sequence[Column]) -> None:
    """Say that rows without names are read in the order of the frame the model was fitted on."""
    warnings.warn(
        "x does not have valid feature names, but the model was fitted with feature names: its columns are taken as "
        f"{', '.join(column.name for column in known[:8])}{', ...' if len(known) > 8 else ''}, in this order.",
        UnknotWarning,
        stacklevel=4,
    )
