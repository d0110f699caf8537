"""Tables as data sets: kinds of columns, missing cells, labels, texts, other files with the same columns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.data.readers.text_files import TEXTS, write_csv
from unknot.data.dataset import Dataset
from unknot.data.readers.read_options import share_for_testing
from unknot.data.readers.table_files import CsvSource
from unknot.data.readers.user_files import read_new_data, read_user_data
from unknot.data.text_dataset import TextDataset, from_texts
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
    with pytest.warns(UnknotWarning, match="column 'blood': there are 'AB', which no training row has"):
        again = read_user_data(other, like=first)
    np.testing.assert_array_equal(again.x, [[44, 0, np.nan, 1]])
    other.write_text("blood,visits,age\nA,1,44\n")
    with pytest.raises(DataError, match="no column 'smokes', which the model was trained on"):
        read_user_data(other, like=first)
    other.write_text("blood,visits,age,smokes,kind\nA,1,44,1,z\n")
    with pytest.raises(DataError, match="got z, expected one of the classes x, y"):
        read_user_data(other, like=first)


def test_a_whole_number_of_many_values_is_a_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,price\n" + "".join(f"{i / 7},{i}\n" for i in range(99)) + "1.5,\n")
    with pytest.warns(
        UnknotWarning, match="'price': its whole numbers of 99 different values are taken as numbers"
    ):
        price = read_user_data(tmp_path / "t.csv", factors=["price"]).factor("price")
    assert price.kind == "continuous"
    assert price.values[:99].tolist() == list(range(99))
    assert price.known.tolist() == [True] * 99 + [False]


def test_mistakes_name_file_column_and_row(table: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv has no labels of 'color'; it has age"):
        read_user_data(table, factors=["color"])
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


@pytest.mark.parametrize(
    ("name", "mark", "decimal"),
    [
        ("t.csv", ";", ","),
        ("t.csv", "\t", "."),
        ("t.csv", ";", "."),
        ("t.CSV", ",", "."),
        ("t.tsv", "\t", "."),
    ],
)
def test_semicolon_and_tab_tables(tmp_path: Path, name: str, mark: str, decimal: str) -> None:
    path = tmp_path / name
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


def _with_last_row_tested(path: Path, **settings: Any) -> Dataset:
    """The table with its last row kept for the test."""
    for seed in range(1000):
        rows = share_for_testing(0.01, seed)(len(path.read_text().splitlines()) - 1)
        if int(rows["test"][0]) == sum(len(part) for part in rows.values()) - 1:
            return read_user_data(path, test_share=0.01, seed=seed, **settings)
    raise AssertionError


def test_rows_kept_for_the_test_decide_neither_kinds_nor_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    train = "".join(f"{i % 2},{'ab'[i % 2]},{i % 3}\n" for i in range(12))
    path.write_text("flag,word,y\n" + train + "1,c,2\n")
    with pytest.warns(
        UnknotWarning, match="column 'word': rows kept for the test hold 'c', which no training row"
    ):
        data = _with_last_row_tested(path, factors=["y"])
    assert [(c.kind, c.classes) for c in data.table] == [("binary", ()), ("category", ("a", "b"))]
    assert bool(data.x[-1, 1].isnan())
    alone = tmp_path / "train.csv"
    alone.write_text("flag,word,y\n" + train)
    assert read_user_data(alone, factors=["y"]).table == data.table
    for odd in ("seven", "7"):
        path.write_text("flag,word,y\n" + train + f"{odd},a,2\n")
        with pytest.raises(DataError, match=f"column 'flag', row 14: got '{odd}', expected 0 or 1"):
            _with_last_row_tested(path, factors=["y"])


def test_labels_of_rows_kept_for_the_test_decide_neither_kind_nor_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    train = "".join(f"{i},{i % 3}\n" for i in range(12))
    path.write_text("x,y\n" + train + "5,9\n")
    with pytest.warns(UnknotWarning, match=r"1 of 1 labels kept for the test .* \(9\)"):
        data = _with_last_row_tested(path, factors=["y"])
    assert data.factors["y"].classes == ("0", "1", "2")
    for odd in ("2.5", "nine"):
        path.write_text("x,y\n" + train + f"5,{odd}\n")
        with pytest.raises(DataError, match=f"the label '{odd}', where training rows have whole numbers"):
            _with_last_row_tested(path, factors=["y"])
    path.write_text("x,y\n" + train + "5,2.5\n")
    assert (
        _with_last_row_tested(path, factors=["y"], kinds={"y": "continuous"}).factors["y"].values[-1] == 2.5
    )


def test_a_column_of_many_numbers_and_words_keeps_its_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i}.0,{i % 5}\n" for i in range(1500)) + "w,1\n" * 300)
    with pytest.warns(UnknotWarning, match="category of 1501 words"):
        data = read_user_data(path)
    assert data.table[0].classes[:2] == ("0.0", "1.0")
    assert data.table[0].classes[-1] == "w"


@pytest.mark.slow
def test_a_table_takes_less_memory_than_three_times_its_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    lines = [",".join(f"{number:.6f}" for number in row) + ",word" for row in draw.normal(size=(5000, 60))]
    path.write_text(",".join(f"c{i}" for i in range(61)) + "\n" + ("\n".join(lines) + "\n") * 15)
    code = (
        "import resource, sys, torch\n"
        "from unknot.data.readers.user_files import read_user_data\n"
        "read_user_data(sys.argv[2])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "read_user_data(sys.argv[1], mapped=False)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)"
    )
    (tmp_path / "small.csv").write_text("a,b\n1,2\n3,4\n")
    command = [sys.executable, "-c", code, str(path), str(tmp_path / "small.csv")]
    grown = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert grown < 3 * path.stat().st_size


def is_text(path: Path, **options: Any) -> bool:
    return isinstance(read_user_data(path, **options), TextDataset)


def test_the_only_column_beside_labels_is_text_if_it_reads_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path)
    assert is_text(path, factors=["topic"])
    assert is_text(path, columns={"topic": "leave out"})
    assert not is_text(path)  # two columns of data: a table
    path.write_text("kind,name\na,Mary Ann\nb,John\n")
    assert not is_text(path, factors=["kind"])  # names, not texts
    path.write_text("kind,size\na,1\nb,2\n")
    assert not is_text(path, factors=["kind"])


def test_texts_may_be_equal_and_have_ids_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    words = ["the moon is far away", "a rocket in the sky", "the goal of the game"]
    lines = [f"r{i},{words[i % 3]} {i % 20 + (i == 0)},{'ab'[i % 2]}" for i in range(60)]
    path.write_text("\n".join(["id,review,kind", *lines]) + "\n")
    with pytest.warns(UnknotWarning, match="column 'id' is different in every row and is left out"):
        data = read_user_data(path, factors=["kind"])
    assert isinstance(data, TextDataset)
    assert len(set(data.texts)) < 60
    few = [f"{words[i % 3]},{'ab'[i % 2]}" for i in range(60)]
    path.write_text("\n".join(["phrase,kind", *few]) + "\n")
    assert not is_text(path, factors=["kind"])  # a category of three phrases


def test_texts_beside_other_columns_become_a_column_for_each_word(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path, more=True)
    data = read_user_data(path, factors=["topic"], columns={"review": "text"})
    assert data.table[-1].name == "stars"
    names = [column.name.removeprefix("review: ") for column in data.table[:-1]]
    assert {column.origin for column in data.table[:-1]} == {"review"}
    x = data.batch(range(len(data))).x
    expected = [[float(name in text.lower().replace(",", "").split()) for name in names] for text in TEXTS]
    assert x[:, :-1].tolist() == expected
    again = read_user_data(path, like=data).batch(range(len(data))).x
    assert torch.equal(again, x)
    lines = path.read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([lines[0], "cars,,3", "space,nothing of these,2"]) + "\n")
    new = read_user_data(tmp_path / "new.csv", columns={}, like=data).batch(range(2)).x
    assert new[0, :-1].isnan().all()  # a missing text is no text without words
    assert (new[1, :-1] == 0).all()
    with pytest.raises(DataError, match="no column 'words'; it has topic, review, stars"):
        read_user_data(path, columns={"words": "text"})


def test_for_a_model_of_texts_the_column_with_most_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path, more=True)
    data = read_user_data(path, like=from_texts(["moon"]))
    assert isinstance(data, TextDataset)
    assert data.texts == tuple(TEXTS)


def test_new_data_come_with_what_identifies_their_rows(table: Path, tmp_path: Path) -> None:
    like = read_user_data(table, factors=["kind"])
    other = tmp_path / "other.csv"
    rows = "".join(f"B,1,44,0,00{i},x,0.5\n" for i in range(1500))
    other.write_text("blood,visits,age,smokes,patient,kind,kind probability\n" + rows)
    data, identity = read_new_data(other, like)
    assert list(identity) == ["row", "patient"]
    assert identity["row"][:3] == [0, 1, 2]
    assert identity["patient"][7] == "007"  # its text, though there are many numbers
    assert data.table == like.table


def test_a_table_is_parsed_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(
        CsvSource, "blocks", lambda self, blocks=CsvSource.blocks: (opened.append(1), blocks(self))[1]
    )
    like = read_user_data(table, factors=["kind"])
    assert len(opened) == 1
    read_new_data(table, like)
    assert len(opened) == 2
