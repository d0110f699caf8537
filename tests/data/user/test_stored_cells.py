"""Cells in the cache are those in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from unknot.data.stored_items import StoredItems
from unknot.data.user import cell_column, stored_cells
from unknot.data.user.table_cells import read_cells
from unknot.data.user.user_files import read_user_data
from unknot.errors import DataError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cell_column, "MANY", 20)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    lines = [f"{i / 7},{'abé'[i % 3]},{i % 2},{'' if i % 5 == 0 else i % 4}" for i in range(60)]
    (tmp_path / "t.csv").write_text("number,word,flag,kind\n" + "\n".join(lines) + "\n")
    return tmp_path / "t.csv"


def test_the_cache_is_made_once_and_holds_the_same(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = read_cells(table)
    for _ in range(2):
        disk = stored_cells.stored_cells(table)
        assert isinstance(disk.numbers, np.memmap)
        np.testing.assert_array_equal(disk.numbers, memory.numbers)
        for name, column in memory.columns.items():
            assert disk.columns[name].to_dict() == column.to_dict()
        monkeypatch.setattr(stored_cells, "_decode", lambda *_: 1 / 0)


def test_a_damaged_cache_is_made_anew(table: Path, tmp_path: Path) -> None:
    stored_cells.stored_cells(table)
    numbers = next((tmp_path / "cache").rglob("cells.bin"))
    numbers.write_bytes(numbers.read_bytes()[:-8])
    np.testing.assert_array_equal(stored_cells.stored_cells(table).numbers, read_cells(table).numbers)


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
        stored_cells.stored_cells(tmp_path / "none.csv")
