"""Tables as .csv files, written whole: a header, then rows in the words of their columns."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from unknot.data.column import Column
from unknot.data.user.csv_cell import guarded
from unknot.files import atomic_file


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table, whole or not at all, row by row.

    A cell that a spreadsheet would run as a formula gets a quote before it, which is taken away again when the table
    is read here; numbers stay as they are.
    """
    with atomic_file(path) as stream:
        writer = csv.writer(codecs.getwriter("utf-8")(stream))
        writer.writerow([guarded(name) for name in header])
        writer.writerows([guarded(cell) for cell in row] for row in rows)


def table_cells(table: Sequence[Column], rows: np.ndarray) -> list[list[str]]:
    """Rows ``(N, C)`` of a table as cells: a category's word, whole numbers whole, nothing where missing."""
    return [[_cell(column, float(value)) for column, value in zip(table, row, strict=True)] for row in rows]


def _cell(column: Column, value: float) -> str:
    if value != value:
        return ""
    return column.classes[round(value)] if column.classes else f"{value:.6g}"
