"""Tables that are written are read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.data.column import Column
from unknot.data.user.csv_file import table_cells, write_table
from unknot.data.user.csv_table import read_rows


def test_words_numbers_and_gaps(tmp_path: Path) -> None:
    table = (Column("blood, type", "category", ("A", 'B "rare"')), Column("visits", "count"))
    cells = table_cells(table, np.array([[1.0, 3.0], [np.nan, 0.0]]))
    write_table(tmp_path / "t.csv", [column.name for column in table], cells)
    assert read_rows(tmp_path / "t.csv") == {"blood, type": ['B "rare"', None], "visits": ["3", "0"]}
