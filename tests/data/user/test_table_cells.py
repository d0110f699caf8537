"""A table's cells in one array, whatever the blocks it is read in."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from unknot.data.user import cell_column, csv_rows, table_cells
from unknot.data.user.csv_rows import read_rows
from unknot.data.user.table_cells import TableCells, cells_of, read_cells


def _texts(cells: TableCells) -> dict[str, list[str | None]]:
    """Cells back as words, numbers as Python writes them."""
    found: dict[str, list[str | None]] = {}
    for name, column in cells.columns.items():
        values = cells.numbers[:, cells.position(name)].tolist()
        words = [str(v) if column.numeric else column.words[int(v)] if v == v else None for v in values]
        found[name] = words
    return found


def test_small_blocks_and_many_numbers_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(f"{i // 2}.0,w{i % 4},{i * 0.5}\n" for i in range(40)))
    monkeypatch.setattr(csv_rows, "_CELLS", 9)
    monkeypatch.setattr(cell_column, "MANY", 5)
    monkeypatch.setattr(table_cells, "_BLOCK", 12)
    cells = read_cells(path)
    assert [column.numeric for column in cells.columns.values()] == [True, False, True]
    assert _texts(cells) == read_rows(path)


def test_counts_of_words_among_some_rows() -> None:
    cells = cells_of({"a": ["x", "y", None, "x"], "b": ["1", "1", "1", "1"]})
    counts = cells.counts(np.array([True, True, True, False]))
    assert counts["a"].tolist() == [1, 1]
    assert counts["b"].tolist() == [3]


def test_what_is_written_is_replaced_in_place() -> None:
    numbers = np.array([[0.0, 1.0], [np.nan, 0.0], [2.0, 1.0]])
    stream = io.BytesIO(numbers.tobytes())
    stream.seek(0, io.SEEK_END)
    table_cells._replace_written(stream, 3, 2, 0, np.array([7.0, 8.0, 9.0]))
    again = np.frombuffer(stream.getvalue()).reshape(3, 2)
    np.testing.assert_array_equal(again, [[7, 1], [np.nan, 0], [9, 1]])
