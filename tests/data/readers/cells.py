"""Columns of words as cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from unknot.data.readers.table_cells import TableCells, read_cells
from unknot.data.readers.table_files import ArrowSource, open_table


def cells_of(content: Mapping[str, Sequence[str | None]]) -> TableCells:
    """Return columns of words, None where missing, as cells; every word is kept."""
    arrays = {name: pa.array(list(words), pa.string()) for name, words in content.items()}
    return read_cells(ArrowSource.of_table(pa.table(arrays), "t"), keep=content)


def texts_of(cells: TableCells) -> dict[str, list[str | None]]:
    """Return cells as words, numbers as Python writes them."""
    texts: dict[str, list[str | None]] = {}
    for name, column in cells.columns.items():
        if column.numeric:
            texts[name] = [str(value) for value in cells.numbers[:, cells.position(name)].tolist()]
        else:
            texts[name] = cells.words(name)
    return texts


def texts_of_file(path: Path) -> dict[str, list[str | None]]:
    """Return the columns of a table file as words, None where missing."""
    source = open_table(path)
    return texts_of(read_cells(source, keep=source.names))
