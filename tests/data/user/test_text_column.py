"""A column of texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.user.text_files import TEXTS, write_csv
from unknot.data.text_dataset import TextDataset, from_texts
from unknot.data.user.text_column import read_text_column, text_column
from unknot.data.user.user_files import read_user_data
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError


def test_the_only_column_beside_labels_is_text_if_it_reads_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path)
    assert text_column(path, ["topic"], None, None) == "review"
    assert text_column(path, None, None, None) is None  # two columns of data: a table
    assert text_column(path, None, {"topic": "leave out"}, None) == "review"
    path.write_text("kind,name\na,Mary Ann\nb,John\n")
    assert text_column(path, ["kind"], None, None) is None  # names, not texts
    path.write_text("kind,size\na,1\nb,2\n")
    assert text_column(path, ["kind"], None, None) is None


def test_a_declared_column_is_text_whatever_is_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path, more=True)
    data = read_user_data(path, factors=["topic"], columns={"review": "text"})
    assert isinstance(data, TextDataset)
    assert data.texts == tuple(TEXTS)
    with pytest.raises(DataError, match="one column can be text"):
        text_column(path, None, {"review": "text", "topic": "text"}, None)
    with pytest.raises(DataError, match="no column 'words'; it has topic, review, stars"):
        read_text_column(path, "words", Wanted())


def test_for_a_model_of_texts_the_column_with_most_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path, more=True)
    assert text_column(path, None, None, from_texts(["moon"])) == "review"
