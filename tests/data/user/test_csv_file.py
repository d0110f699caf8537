"""Tables that are written are read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.data.column import Column
from unknot.data.user.csv_file import table_cells, write_table
from unknot.data.user.csv_rows import read_rows


def test_words_numbers_and_gaps(tmp_path: Path) -> None:
    table = (Column("blood, type", "category", ("A", 'B "rare"')), Column("visits", "count"))
    cells = table_cells(table, np.array([[1.0, 3.0], [np.nan, 0.0]]))
    write_table(tmp_path / "t.csv", [column.name for column in table], cells)
    assert read_rows(tmp_path / "t.csv") == {"blood, type": ['B "rare"', None], "visits": ["3", "0"]}


def test_formulas_are_guarded_and_come_back(tmp_path: Path) -> None:
    words = ("=cmd|' /C calc'!A0", "-x", "@y", "'=z")
    table = (Column("+name", "category", words), Column("n", "real"))
    cells = table_cells(table, np.array([[i, -1.5] for i in range(4)]))
    write_table(tmp_path / "t.csv", [column.name for column in table], cells)
    written = (tmp_path / "t.csv").read_text().splitlines()
    assert written[:3] == ["'+name,n", "'=cmd|' /C calc'!A0,-1.5", "'-x,-1.5"]
    assert read_rows(tmp_path / "t.csv") == {"+name": list(words), "n": ["-1.5"] * 4}
