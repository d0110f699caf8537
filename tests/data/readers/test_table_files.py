"""Blocks of rows of table files: text, Parquet and Feather."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tests.data.readers.cells import texts_of_file
from unknot.data.readers import table_files
from unknot.data.readers.table_files import open_table
from unknot.data.readers.user_files import read_user_data
from unknot.errors import DataError


def test_blocks_join_to_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f'{i},"{i},\n{i}"' for i in range(25)) + "\n\n")
    whole = texts_of_file(path)
    monkeypatch.setattr(table_files, "BLOCK", 64)
    assert len(list(open_table(path).blocks())) > 3
    assert texts_of_file(path) == whole
    assert whole["a"] == [str(i) for i in range(25)]
    assert whole["b"][3] == "3,\n3"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "is empty"),
        ("a,a\n1,2\n", "two columns have the same name"),
        ("a,b\n1\n", "row 2: 1 cells under 2 columns"),
        ("a,b\n" + "1,2\n" * 200 + "3,4,5\n", "row 202: 3 cells under 2 columns"),
        ('a,b\n1,"2\n' + "3,4\n" * 9, None),  # a quote that is not closed: the rest is one cell
    ],
)
def test_what_is_no_table(
    content: str, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "BLOCK", 64)
    (tmp_path / "t.csv").write_text(content)
    if message is None:
        assert texts_of_file(tmp_path / "t.csv")["a"] == ["1"]
        return
    with pytest.raises(DataError, match=message):
        texts_of_file(tmp_path / "t.csv")


def test_a_cell_may_hold_a_book(tmp_path: Path) -> None:
    book = "word " * 300_000
    (tmp_path / "t.csv").write_text(f"a,b\n1,x\n2,{book}\n3,y\n")
    assert texts_of_file(tmp_path / "t.csv")["b"] == ["x", book.strip(), "y"]


TYPED = {
    "age": pa.array([30.0, None, 50.5, 20.0] * 8),
    "smokes": pa.array([True, False, None, True] * 8),
    "blood": pa.array(["A", "B", "A", None] * 8).dictionary_encode(),
    "visits": pa.array([3, 0, None, 7] * 8, pa.int16()),
    "kind": pa.array(["x", None, "y", "x"] * 8),
    "level": pa.array([1, 2, 1, None] * 8),
}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_typed_files_are_the_tables_that_text_would_be(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "_CELLS", 30)
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / f"t.{ending}"
    table = pa.table(TYPED)
    (parquet.write_table if ending == "parquet" else feather.write_feather)(table, str(path))
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    lines = [
        ",".join("" if v is None else str(float(v)) if isinstance(v, bool) else str(v) for v in row)
        for row in rows
    ]
    (tmp_path / "t.csv").write_text(",".join(TYPED) + "\n" + "\n".join(lines) + "\n")
    options = {"factors": ["kind", "level"], "test_share": 0.25}
    text, typed = (read_user_data(p, **options) for p in (tmp_path / "t.csv", path))  # type: ignore[arg-type]
    assert typed.table == text.table
    np.testing.assert_array_equal(typed.x, text.x)
    assert typed.fingerprint() == text.fingerprint()
    stored = read_user_data(path, mapped=True, **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(stored.x[:], text.x)
    assert read_user_data(path, like=typed).fingerprint() == typed.fingerprint()


def test_dates_of_typed_files(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    times = ["2024-02-28T00:00:00.000000001", "2024-03-01T12:00", "NaT"]
    plain = pa.array(np.array(times, dtype="M8[ns]"))
    days = pa.array(np.array(["2024-02-28", "2024-03-01", "NaT"], dtype="M8[D]"))
    zone = plain.cast(pa.timestamp("us", "UTC"), safe=False)
    for when, last in ((plain, 2.5), (zone, 2.5), (days, 2)):
        parquet.write_table(pa.table({"when": when}), path)
        data = read_user_data(path)
        assert data.columns == ("when (month)", "when (weekday)", "when (days)")
        np.testing.assert_array_equal(data.x, [[2, 2, 0], [3, 4, last], [np.nan] * 3])


def test_typed_files_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with pytest.raises(DataError, match=r"no file .*t\.parquet"):
        read_user_data(path)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"t\.parquet cannot be read as a table"):
        read_user_data(path)
    lasted = pa.array(np.array([1, 2], dtype="m8[s]"))
    parquet.write_table(pa.table({"when": lasted, "a": [1.5, 2.5], "b": [3, 4]}), path)
    with pytest.raises(DataError, match=r"column 'when': holds duration\[.*\] values; make numbers or words"):
        read_user_data(path)
    assert read_user_data(path, columns={"when": "leave out"}).columns == ("a", "b")
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    with pytest.raises(DataError, match="is empty"):
        read_user_data(path)


@pytest.mark.slow
def test_a_program_that_read_a_table_ends_as_it_should(tmp_path: Path) -> None:
    """Arrow's threads once released Python objects while the interpreter shut down, which aborted every other run."""
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50)
    code = "from unknot.data.readers.user_files import read_user_data; read_user_data('t.csv'); raise SystemExit(3)"
    for _ in range(5):
        assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 3
