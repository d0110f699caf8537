"""The cells of a table in one array, in memory or in the cache."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.readers.cells import cells_of, texts_of, texts_of_file
from unknot.data.readers import table_cells, table_column, table_files
from unknot.data.readers.table_cells import TableRows, read_cells, stored_cells
from unknot.data.readers.table_files import open_table
from unknot.data.readers.user_files import read_user_data
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError


def test_small_blocks_and_many_numbers_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(f"{i // 2}.0,w{i % 4},{i * 0.5}\n" for i in range(40)))
    monkeypatch.setattr(table_files, "BLOCK", 64)
    monkeypatch.setattr(table_column, "MANY", 5)
    monkeypatch.setattr(table_cells, "_BLOCK", 12)
    cells = read_cells(open_table(path))
    assert [column.numeric for column in cells.columns.values()] == [True, False, True]
    assert texts_of(cells) == texts_of_file(path)


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


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(table_column, "MANY", 20)
    lines = [f"{i / 7},{'abé'[i % 3]},{i % 2},{'' if i % 5 == 0 else i % 4}" for i in range(60)]
    (tmp_path / "t.csv").write_text("number,word,flag,kind\n" + "\n".join(lines) + "\n")
    return tmp_path / "t.csv"


def test_the_cache_is_made_once_and_holds_the_same(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = read_cells(open_table(table))
    for _ in range(2):
        disk = stored_cells(table, partial(open_table, table))
        assert isinstance(disk.numbers, np.memmap)
        np.testing.assert_array_equal(disk.numbers, memory.numbers)
        for name, column in memory.columns.items():
            assert disk.columns[name].to_dict() == column.to_dict()
        monkeypatch.setattr(table_cells, "_decode", lambda *_: 1 / 0)


def test_a_damaged_cache_is_made_anew(table: Path, tmp_path: Path) -> None:
    stored_cells(table, partial(open_table, table))
    numbers = next((tmp_path / "cache").rglob("cells.bin"))
    numbers.write_bytes(numbers.read_bytes()[:-8])
    np.testing.assert_array_equal(
        stored_cells(table, partial(open_table, table)).numbers, read_cells(open_table(table)).numbers
    )


def test_a_table_in_a_file_is_the_table_in_memory(table: Path) -> None:
    memory, disk = (
        read_user_data(table, factors=["kind"], test_share=0.2, mapped=mapped) for mapped in (False, True)
    )
    assert isinstance(disk.x, StoredItems)
    assert disk.table == memory.table
    assert torch.equal(disk.x[:].nan_to_num(-9), memory.x[:].nan_to_num(-9))
    assert torch.equal(disk.factors["kind"].values, memory.factors["kind"].values)
    assert disk.split("train").fingerprint() == memory.split("train").fingerprint()


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv cannot be read"):
        read_user_data(tmp_path / "none.csv", mapped=True)


def test_columns_are_chosen_and_words_looked_up() -> None:
    cells = np.array([[0.0, 2.5, 1.0], [1.0, np.nan, np.nan], [np.nan, 1e300, 0.0]])
    rows = TableRows(cells, [2, 1], [np.array([10.0, 20.0]), None])
    expected = np.array([[20, 2.5], [np.nan, np.nan], [10, np.inf]], dtype=np.float32)
    np.testing.assert_array_equal(rows.array(), expected)
    np.testing.assert_array_equal(rows[np.array([2, 0])], expected[[2, 0]])
    assert rows.shape == (3, 2)
    assert rows.dtype == np.float32
    assert cells[0, 2] == 1.0  # the cells stay as they are
