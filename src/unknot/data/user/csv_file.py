"""Tables as .csv files, written whole: a header, then rows in the words of their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from unknot.data.column import Column
from unknot.files import write_file


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table, whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    write_file(path, text.getvalue().encode())


def table_cells(table: Sequence[Column], rows: np.ndarray) -> list[list[str]]:
    """Rows ``(N, C)`` of a table as cells: a category's word, whole numbers whole, nothing where missing."""
    return [[_cell(column, float(value)) for column, value in zip(table, row, strict=True)] for row in rows]


def _cell(column: Column, value: float) -> str:
    if value != value:
        return ""
    return column.classes[round(value)] if column.classes else f"{value:.6g}"
