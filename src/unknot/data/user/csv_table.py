"""Tables: a .csv file with a header, empty cells for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from unknot.data.column import Column
from unknot.data.dataset import Dataset
from unknot.data.deciding_rows import deciding_rows
from unknot.data.from_arrays import from_arrays
from unknot.data.stored_items import StoredItems
from unknot.data.user.in_a_file import stays_in_file
from unknot.data.user.label_cells import label_values, wanted_names
from unknot.data.user.stored_cells import stored_cells
from unknot.data.user.table_cells import TableCells, read_cells
from unknot.data.user.table_kinds import LEAVE_OUT, WordsNeeded, read_columns
from unknot.data.user.table_rows import TableRows
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError


def read_csv_table(path: Path, wanted: Wanted) -> Dataset:
    """A table as a data set: label columns as factors, the others as x ``(N, C)`` with NaN for missing cells."""
    columns, like = wanted.columns, wanted.like
    keep = {name for name, kind in columns.items() if kind == "category"}
    keep |= {column.name for column in (like.table if like is not None else ()) if column.kind == "category"}
    size = path.stat().st_size if path.is_file() else 0
    read = stored_cells if stays_in_file(size, wanted.mapped) else read_cells
    while True:
        cells = read(path, keep)
        splits = wanted.split(len(cells))
        deciding = deciding_rows(splits, len(cells))
        try:
            named = _named(path, cells, wanted)
            table, rows = _data(path, cells, columns, like, named, deciding)
            labels = {n: label_values(str(path), cells, n, wanted.kinds.get(n), deciding) for n in named}
            break
        except WordsNeeded as error:
            keep.add(error.name)
    kinds, classes = wanted.kinds_of(labels), wanted.classes_of(labels)
    items = rows.array() if read is read_cells else StoredItems([rows], where=str(path))
    made = from_arrays(
        items, labels, kinds=kinds, classes=classes, splits=splits, name=path.stem, missing=True
    )
    return replace(made, table=table, columns=tuple(column.name for column in table))


def _named(path: Path, cells: TableCells, wanted: Wanted) -> list[str]:
    """The columns that are labels."""
    for name in wanted.columns:
        if name not in cells.columns:
            raise DataError(f"{path} has no column '{name}'; it has {', '.join(cells.columns)}.")
    like = wanted.like
    if like is not None and not like.table:
        raise DataError(
            f"{path} is a table, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    return wanted_names(path, list(cells.columns), wanted.named_factors, like)


def _data(
    path: Path,
    cells: TableCells,
    columns: Mapping[str, str],
    like: Dataset | None,
    named: Sequence[str],
    deciding: np.ndarray,
) -> tuple[tuple[Column, ...], TableRows]:
    rest = [name for name in cells.columns if name not in named and columns.get(name) != LEAVE_OUT]
    known = like.table if like is not None else ()
    return read_columns(str(path), cells, columns, known, rest, deciding)
