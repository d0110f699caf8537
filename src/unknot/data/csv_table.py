"""Tables: a .csv file with a header, empty cells for what is missing."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from unknot.data.column import COLUMN_KINDS, Column, ColumnKind
from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError

_MISSING = {"", "na", "nan", "none", "null", "?"}


def read_rows(path: Path) -> dict[str, list[str | None]]:
    """The columns of a .csv file by name, None where a cell is empty."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a table in UTF-8 text: {error}.") from None
    if len(rows) < 2:
        raise DataError(f"{path} is empty: expected a header and at least one row.")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) != len(header):
        raise DataError(f"{path}: two columns have the same name.")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"{path}, row {number}: {len(row)} cells under {len(header)} columns.")
    return {
        name: [None if row[i].strip().lower() in _MISSING else row[i].strip() for row in rows[1:]]
        for i, name in enumerate(header)
    }


def read_labels(cells: Sequence[str | None]) -> list[Any]:
    """Cells of a label column: whole numbers, numbers or words, None where empty."""
    present = [cell for cell in cells if cell is not None]
    for kind in (int, float):
        try:
            [kind(cell) for cell in present]
        except ValueError:
            continue
        return [None if cell is None else kind(cell) for cell in cells]
    return list(cells)


def read_csv_table(
    path: Path,
    factors: Sequence[str],
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
    columns: Mapping[str, str] | None,
    like: Dataset | None,
) -> Dataset:
    """A table as a data set: label columns as factors, the others as x ``(N, C)`` with NaN for missing cells."""
    content = read_rows(path)
    for name in columns or {}:
        if name not in content:
            raise DataError(f"{path} has no column '{name}'; it has {', '.join(content)}.")
    labels = {name: read_labels(content[name]) for name in factors if name in content}
    for name in factors if like is None else ():
        if name not in content:
            raise DataError(f"{path} has no column '{name}' for that factor; it has {', '.join(content)}.")
    data_names = [c.name for c in like.table] if like is not None else [n for n in content if n not in labels]
    known = {c.name: c for c in like.table} if like is not None else {}
    described, numbers = [], []
    for name in data_names:
        if name not in content:
            raise DataError(f"{path} has no column '{name}', which the model was trained on.")
        column = known.get(name) or _describe(path, name, content[name], (columns or {}).get(name))
        described.append(column)
        numbers.append(_numbers(path, column, content[name]))
    kinds = {n: k for n, k in (kinds or {}).items() if n in labels}
    classes = {n: c for n, c in (classes or {}).items() if n in labels}
    x = np.stack(numbers, axis=1).astype(np.float32)
    data = from_arrays(x, labels, kinds=kinds, classes=classes, name=path.stem, missing=True)
    return replace(data, table=tuple(described), columns=tuple(data_names))


def _describe(path: Path, name: str, cells: Sequence[str | None], kind: str | None) -> Column:
    """The column's kind: as declared, or words a category, 0 and 1 binary, anything else real."""
    present = [cell for cell in cells if cell is not None]
    if kind is not None and kind not in COLUMN_KINDS:
        raise DataError(f"{path}, column '{name}': kind is one of {', '.join(COLUMN_KINDS)}, not {kind!r}.")
    if kind is None:
        labels = read_labels(present)
        if any(isinstance(label, str) for label in labels):
            kind = "category"
        else:
            kind = "binary" if set(labels) <= {0, 1} else "real"
    classes = tuple(sorted(set(present))) if kind == "category" else ()
    return Column(name, cast(ColumnKind, kind), classes)


def _numbers(path: Path, column: Column, cells: Sequence[str | None]) -> np.ndarray:
    """Cells as numbers: a category's class index, NaN where missing."""
    index = {word: float(i) for i, word in enumerate(column.classes)}
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            numbers[row] = index[cell] if column.kind == "category" else float(cell)
        except (KeyError, ValueError):
            expected = f"one of {', '.join(column.classes)}" if column.kind == "category" else "a number"
            raise DataError(
                f"{path}, column '{column.name}', row {row + 2}: got {cell!r}, expected {expected}."
            ) from None
    return numbers
