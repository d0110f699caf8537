"""The cells of a table that is too large for memory: read once into the cache, mapped from there.

The cache goes by the content of the file, and by the columns of which every word is kept. It appears whole, or not at
all; one that is damaged is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from unknot.data.files.checksum import digest
from unknot.data.files.directories import advising_cache, cache_directory
from unknot.data.files.special_file import refuse_special_file
from unknot.data.user.cell_column import CellColumn
from unknot.data.user.csv_rows import CsvRows
from unknot.data.user.table_cells import TableCells, cell_columns, write_cells
from unknot.errors import DataError
from unknot.files import atomic_folder, lock

_NUMBERS, _COLUMNS = "cells.bin", "columns.json"


def stored_cells(path: Path, keep: Iterable[str] = ()) -> TableCells:
    """As :func:`~unknot.data.user.table_cells.read_cells`, with the numbers in a file of the cache."""
    refuse_special_file(path)
    try:
        content = digest(path, "sha256")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    key = hashlib.sha256(json.dumps([content, sorted(keep)]).encode()).hexdigest()[:32]
    target = cache_directory() / "decoded" / f"{key}-table"
    if (found := _mapped(target)) is not None:
        return found
    with advising_cache(), lock(target.with_name(f".{target.name}.lock")):
        if _mapped(target) is None:
            _decode(path, keep, target)
    found = _mapped(target)
    if found is None:
        raise DataError(f"{target} was written but cannot be mapped: check the disk, then remove it.")
    return found


def _decode(path: Path, keep: Iterable[str], target: Path) -> None:
    rows = CsvRows(path)
    columns = cell_columns(rows, keep)
    with atomic_folder(target, replace=True) as folder:
        with (folder / _NUMBERS).open("w+b") as stream:
            count = write_cells(stream, columns, rows.blocks())
        told = {"rows": count, "columns": {name: column.to_dict() for name, column in columns.items()}}
        (folder / _COLUMNS).write_bytes(json.dumps(told).encode("utf-8", "surrogatepass"))


def _mapped(folder: Path) -> TableCells | None:
    """What is in the cache; None if it is not there or not whole."""
    try:
        told = json.loads((folder / _COLUMNS).read_bytes().decode("utf-8", "surrogatepass"))
        columns = {name: CellColumn.from_dict(column) for name, column in told["columns"].items()}
        shape = (int(told["rows"]), len(columns))
        if (folder / _NUMBERS).stat().st_size != shape[0] * shape[1] * 8:
            return None
        return TableCells(columns, np.memmap(folder / _NUMBERS, np.float64, "r", shape=shape))
    except (OSError, ValueError, KeyError, TypeError):
        return None
