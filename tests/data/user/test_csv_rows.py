"""Rows of a .csv file, block by block."""

from __future__ import annotations

from pathlib import Path

import pytest

from unknot.data.user import csv_rows
from unknot.data.user.csv_rows import CsvRows, read_rows
from unknot.errors import DataError


def test_blocks_join_to_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f'{i},"{i},\n{i}"' for i in range(25)) + "\n\n")
    whole = read_rows(path)
    monkeypatch.setattr(csv_rows, "_CELLS", 14)
    assert [len(block[0]) for block in CsvRows(path).blocks()] == [7, 7, 7, 4]
    assert read_rows(path) == whole
    assert whole["a"] == [str(i) for i in range(25)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "is empty"),
        ("a,a\n1,2\n", "two columns have the same name"),
        ("a,b\n1\n", "row 2: 1 cells under 2 columns"),
    ],
)
def test_what_is_no_table(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        read_rows(tmp_path / "t.csv")


def test_a_cell_may_hold_a_book(tmp_path: Path) -> None:
    book = "word " * 100_000
    (tmp_path / "t.csv").write_text(f"a,b\n1,{book}\n")
    assert read_rows(tmp_path / "t.csv")["b"] == [book.strip()]
