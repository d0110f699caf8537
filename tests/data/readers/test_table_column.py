"""The cells of one column: words by number, or many numbers themselves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from unknot.data.readers import table_column
from unknot.data.readers.csv_cells import is_number, read_cell
from unknot.data.readers.table_column import TableColumn


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_column, "MANY", 3)


def test_words_go_by_the_order_in_which_they_come() -> None:
    column = TableColumn()
    np.testing.assert_array_equal(column.read(pa.array(["b", " a ", "", "b"]), 0), [0, 1, np.nan, 0])
    np.testing.assert_array_equal(column.read(pa.array(["a", "c", "NA"]), 4), [1, 2, np.nan])
    assert column.words == ["b", "a", "c"]
    column.read(pa.array(["d", "e"]), 7)
    assert column.switched() is None  # words are kept, however many


def test_many_numbers_are_held_themselves() -> None:
    column = TableColumn()
    column.read(pa.array(["4", "5", "6", "7"]), 0)
    np.testing.assert_array_equal(column.switched(), [4, 5, 6, 7])
    assert column.numeric
    assert column.whole
    np.testing.assert_array_equal(column.read(pa.array(["8", "?", "x", "2.5"]), 4), [8, np.nan, np.nan, 2.5])
    assert column.strays == {6: "x"}
    assert not column.whole


def test_words_are_kept_where_asked() -> None:
    column = TableColumn(keep=True)
    column.read(pa.array(["4", "5", "6", "7"]), 0)
    assert column.switched() is None


@pytest.mark.parametrize(
    ("values", "words", "whole"),
    [
        (pa.array([3, None, 1]), ["3", "1"], True),
        (pa.array([0.5, float("nan"), 2.0]), ["0.5", "2.0"], False),
        (pa.array([True, False, None]), ["1.0", "0.0"], False),
    ],
)
def test_typed_values_are_words_or_numbers(values: pa.Array, words: list[str], whole: bool) -> None:
    column = TableColumn()
    column.read(values, 0)
    assert column.words == words
    column.read(pa.array(["8", "9", "10", "11"]), 3)
    column.switched()
    is_missing = [word is None or word != word for word in values.to_pylist()]
    np.testing.assert_array_equal(np.isnan(column.read(values, 7)), is_missing)
    assert column.whole == whole


def test_a_part_of_an_array_is_read_where_it_lies() -> None:
    values = pa.array([None, "4", "x", None, "5", "6", "7", "8"])
    whole, part = TableColumn(), TableColumn()
    expected = whole.read(pa.array(values.to_pylist()[2:]), 0)
    np.testing.assert_array_equal(part.read(values[2:], 0), expected)
    part.read(pa.array(["1", "2"]), 6)
    part.words.remove("x")
    part.switched()
    np.testing.assert_array_equal(part.read(pa.array([1, None, 3])[1:], 8), [np.nan, 3])


@pytest.mark.parametrize(
    "text", [" 1.5 ", "+1.5", "1_000", "٣", "1e400", "-inf", "Infinity", "NA", "?", "0x10", "1,5"]
)
@pytest.mark.parametrize("comma", [False, True])
def test_numbers_are_those_that_python_reads(text: str, comma: bool) -> None:
    column = TableColumn(comma)
    column.read(pa.array(["1", "2", "3", "4"]), 0)
    column.switched()
    number = column.read(pa.array([text, "7"]), 4)
    word = read_cell(text, comma)
    if word is None:
        expected = np.nan
    elif is_number(word):
        expected = float(word)
    else:
        expected = np.nan
        assert column.strays == {4: word}
    np.testing.assert_array_equal(number, [expected, 7])
