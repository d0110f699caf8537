"""Tables with holes: kinds of columns, missing cells, labels, and the same columns in other files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.data.user.csv_table import read_labels, read_rows
from unknot.data.user.user_files import read_user_data
from unknot.errors import DataError, UnknotWarning

TABLE = "age,smokes,blood,visits,kind\n30,1,A,3,x\n,0,B,0,\n50.5,?,A,NA,y\n20,1,,7,x\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_kinds_are_told_or_declared(table: Path) -> None:
    data = read_user_data(table, factors=["kind"], columns={"visits": "count"})
    assert [(c.name, c.kind) for c in data.table] == [
        ("age", "real"),
        ("smokes", "binary"),
        ("blood", "category"),
        ("visits", "count"),
    ]
    assert data.table[2].classes == ("A", "B")
    nan = np.nan
    expected = np.array(
        [[30, 1, 0, 3], [nan, 0, 1, 0], [50.5, nan, 0, nan], [20, 1, nan, 7]], dtype=np.float32
    )
    np.testing.assert_array_equal(data.x, expected)
    assert data.factors["kind"].classes == ("x", "y")
    assert data.factors["kind"].values.tolist() == [0, -1, 1, 0]


def test_columns_can_be_left_out(table: Path) -> None:
    data = read_user_data(table, factors="kind", columns={"age": "leave out"})
    assert data.columns == ("smokes", "blood", "visits")


def test_another_file_must_have_the_same_columns(table: Path, tmp_path: Path) -> None:
    first = read_user_data(table, factors=["kind"])
    other = tmp_path / "other.csv"
    other.write_text(
        "blood,visits,age,smokes,more\nB,1,44,0,zzz\n"
    )  # another order, and a column that is not needed
    again = read_user_data(other, like=first)
    np.testing.assert_array_equal(again.x, [[44, 0, 1, 1]])
    assert not again.factors
    other.write_text("blood,visits,age,smokes\nAB,1,44,0\n")
    with pytest.raises(DataError, match="column 'blood', row 2: got 'AB', expected one of A, B"):
        read_user_data(other, like=first)
    other.write_text("blood,visits,age\nA,1,44\n")
    with pytest.raises(DataError, match="no column 'smokes', which the model was trained on"):
        read_user_data(other, like=first)
    other.write_text("blood,visits,age,smokes,kind\nA,1,44,1,z\n")
    with pytest.raises(DataError, match="got z, expected one of the classes x, y"):
        read_user_data(other, like=first)


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", None, "3"], [1, None, 3]),
        (["1", "2.5", None], [1.0, 2.5, None]),
        (["1", "b"], ["1", "b"]),
        ([None, None], [None, None]),
    ],
)
def test_labels_are_numbers_if_all_of_them_are(cells: list, labels: list) -> None:
    assert read_labels(cells) == labels


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


def test_mistakes_name_file_column_and_row(table: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv has no labels of 'colour'; it has age"):
        read_user_data(table, factors=["colour"])
    with pytest.raises(DataError, match=r"t\.csv has no column 'agee'"):
        read_user_data(table, columns={"agee": "real"})
    with pytest.raises(DataError, match="column 'age': kind is one of real"):
        read_user_data(table, columns={"age": "number"})
    with pytest.raises(DataError, match="column 'blood', row 2: got 'A', expected a number"):
        read_user_data(table, columns={"blood": "real"})
    (tmp_path / "latin.csv").write_bytes("name\nMüller\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        read_user_data(tmp_path / "latin.csv")
    (tmp_path / "only.csv").write_text("kind\na\nb\n")
    with pytest.raises(DataError, match="no columns of data"):
        read_user_data(tmp_path / "only.csv", factors=["kind"])


@pytest.mark.parametrize(("mark", "decimal"), [(";", ","), ("\t", "."), (";", "."), (",", ".")])
def test_semicolon_and_tab_tables(tmp_path: Path, mark: str, decimal: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE.replace(",", mark).replace("50.5", f"50{decimal}5"))
    data = read_user_data(path, factors=["kind"])
    assert [c.kind for c in data.table] == ["real", "binary", "category", "real"]
    assert float(data.x[2, 0]) == 50.5


def test_a_few_words_among_numbers_are_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(30)) + "4o,1\n")
    with pytest.raises(DataError, match="column 'a', row 32: got '4o' among numbers"):
        read_user_data(path)
    assert read_user_data(path, columns={"a": "category"}).table[0].kind == "category"


def test_a_column_that_tells_rows_apart_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,id,b\n" + "".join(f"w{i},{i},{i % 7}\n" for i in range(30)))
    with pytest.warns(UnknotWarning, match="is different in every row and is left out") as said:
        data = read_user_data(path)
    assert [c.name for c in data.table] == ["b"]
    assert len(said) == 2
    path.write_text("a,b\n" + "".join(f"w{i // 2},{i % 7}\n" for i in range(300)))
    with pytest.warns(UnknotWarning, match="category of 150 words"):
        read_user_data(path)
